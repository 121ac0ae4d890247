"""
An answer is what a handler decides; here it becomes a frame.

Release 4.6.0 answers with a JSON header, whatever dialect the request's header had.
The header's keys stand in alphabetical order, as its JSON writer puts them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from json.encoder import encode_basestring_ascii as quoted
from operator import itemgetter

from reference.core.request import Request
from spec.wire.command import Command, encode_command

SUCCESS = 0
SYSTEM_ERROR = 1
RELEASE_ORDINAL = 333  # [WIRE-VERSION-001]
"""How 4.6.0 numbers itself in headers (Java: MQVersion.Version.V4_6_0)."""
LANGUAGE = "PYTHON"

_RESPONSE_BIT = 1
_ONEWAY_BIT = 2
_LENGTHS = struct.Struct(">II")
_MARK = -2_107_093_855
"""An opaque that nothing else in a header looks like."""


@dataclass(slots=True)
class Answer:
    """A response code with whatever goes with it."""

    code: int = SUCCESS
    remark: str | None = None
    fields: Mapping[str, object] = field(default_factory=dict)
    """Header fields; numbers and booleans are written as Java writes them."""
    body: bytes = b""
    records: Sequence[memoryview] = ()
    """Stored records that follow the body, uncopied until the frame is made."""
    form: AnswerForm | None = None
    """What writes it quicker, if the same few fields change from answer to answer."""


class AnswerForm:
    """How to write answers that differ in nothing but their opaque and some fields.

    It is what `encode_answer` makes of an answer with marks where something changes.
    The values must be numbers, or texts that JSON writes as they are.
    """

    def __init__(self, pattern: Answer, changing: Sequence[str]) -> None:
        marks = {name: f"<<{number}>>" for number, name in enumerate(changing)}
        marked = replace(pattern, fields={**pattern.fields, **marks})
        header = encode_answer(_MARK, marked)[_LENGTHS.size :].decode()
        form = header.replace("%", "%%")
        for mark in (str(_MARK), *marks.values()):
            if form.count(mark) != 1:
                raise ValueError(f"{mark} is {form.count(mark)} times in {header}")
            form = form.replace(mark, "%s")
        # In the order of the header: the fields, which stand as given, then the opaque.
        names = [name for name in marked.fields if name in marks]
        self._form, self._values = form, itemgetter(*names)

    def encode(self, opaque: int, fields: Mapping[str, object]) -> bytes:
        """Return the frame of the answer that has these *fields*."""
        header = (self._form % (*self._values(fields), opaque)).encode()
        size = len(header)
        return _LENGTHS.pack(4 + size, size) + header


def refusal(code: int, remark: str) -> Answer:
    """Return the answer that says no, and why."""
    return Answer(code, remark)


def encode_answer(opaque: int, answer: Answer) -> bytes:
    """Return the frame of *answer* to the request numbered *opaque*."""
    if answer.form is not None:
        return answer.form.encode(opaque, answer.fields)
    extra = ""
    if answer.fields:
        # [WIRE-JSON-002]
        pairs = [f'"{n}":{quoted(_text(v))}' for n, v in answer.fields.items()]
        extra = f'"extFields":{{{",".join(pairs)}}},'
    # [WIRE-JSON-006]
    remark = f'"remark":{quoted(answer.remark)},' if answer.remark is not None else ""
    header = (
        # [WIRE-COMMAND-001] [WIRE-JSON-001]
        f'{{"code":{answer.code},{extra}"flag":{_RESPONSE_BIT},'
        # [WIRE-COMMAND-003] [WIRE-CONN-014]
        f'"language":"{LANGUAGE}","opaque":{opaque},{remark}'
        # [WIRE-BINARY-006]
        f'"serializeTypeCurrentRPC":"JSON","version":{RELEASE_ORDINAL}}}'
    ).encode()
    size = len(header)
    body = answer.body or b"".join(answer.records)
    return _LENGTHS.pack(4 + size + len(body), size) + header + body  # [WIRE-FRAME-001]


def encode_notice(code: int, fields: Mapping[str, str], body: bytes = b"") -> bytes:
    """Return the frame of a request that wants no answer."""
    return _encode_call(code, fields, body, opaque=0, flag=_ONEWAY_BIT)


def encode_call(
    code: int, fields: Mapping[str, str], body: bytes = b"", *, opaque: int
) -> bytes:
    """Return the frame of a request that wants an answer."""
    return _encode_call(code, fields, body, opaque=opaque, flag=0)


def relay(request: Request, *, opaque: int) -> bytes:
    """Return the frame of *request*, renumbered, to be passed on to another peer."""
    fields = {name: request.text(name) for name in request.fields}
    return encode_call(request.code, fields, request.body, opaque=opaque)


def _encode_call(
    code: int, fields: Mapping[str, str], body: bytes, *, opaque: int, flag: int
) -> bytes:
    return encode_command(
        Command(
            code=code,
            opaque=opaque,
            flag=flag,
            language=LANGUAGE,
            version=RELEASE_ORDINAL,
            fields=fields,
            body=body,
        )
    )


def _text(value: object) -> str:
    if type(value) is str:
        return value  # as nearly always
    if value is True:
        return "true"
    if value is False:
        return "false"
    return str(value)

"""
Conformance failure: one clause that the target does not meet.

The text begins with the clause's sentence and level. It continues with the sent, the
received and the expected values, the marked wrong bytes, and the transcript. It ends
with the hints that the values show, the clause's source and the command that repeats
the test.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from construct import Struct

from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.transcript import Direction, Transcript, describe
from conformance.harness.failure.field_values import named_codes
from conformance.harness.failure.frame_tree import frame_tree, own_frame_tree
from conformance.harness.failure.hints import hints_of
from spec.clause import Clause
from spec.explain import explain
from spec.registry import clause as clause_of
from spec.store.message_record import Record, encode_record, record_layout
from spec.wire.remoting.response_code import ResponseCode, response_name

SHOWN_VALUE_SIZE = 400
"""Characters of a value that a failure shows."""
TEXT_WIDTH = 86


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Bytes that show what is wrong, and how to read them."""

    layout: Struct
    data: bytes
    wrong: str | None = None
    """Dotted name of the wrong field."""
    base: int = 0
    """Offset of the first byte where it was found, in a file for example."""


def record_evidence(record: Record, wrong: str) -> Evidence:
    """Return the bytes of *record* with its field *wrong* marked."""
    return Evidence(
        layout=record_layout,
        data=encode_record(record),
        wrong=wrong,
        base=record.physical_offset,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A found value that differs from the expected one."""

    found: object
    expected: object
    what: str = ""
    """Name of the compared value, such as a header field."""

    @property
    def found_text(self) -> str:
        """The found value with its name."""
        if isinstance(self.expected, ResponseCode) and type(self.found) is int:
            name = response_name(self.found)
            return self._text(f"{self.found} {name}".removesuffix(f" {self.found}"))
        return self._text(self.found)

    @property
    def expected_text(self) -> str:
        """The expected value with its name."""
        return self._text(self.expected)

    def _text(self, value: object) -> str:
        name = f"{self.what}: " if self.what else ""
        # A number and its digits as a text differ in their type alone.
        is_alike = format_value(self.found) == format_value(self.expected)
        return name + (repr(value) if is_alike else format_value(value))


class ConformanceFailure(AssertionError):
    """The target does not meet one clause."""

    def __init__(
        self,
        clause_id: str,
        findings: list[Finding],
        *,
        transcript: Transcript | None = None,
        evidence: Evidence | None = None,
        sent: str = "",
    ) -> None:
        self.clause = clause_of(clause_id)
        self.findings = findings
        self.transcript = transcript
        self.evidence = evidence
        self.sent = sent
        super().__init__(render(self))


def render(failure: ConformanceFailure) -> str:
    """Return the failure as text, without the command that repeats it."""
    parts = [clause_block(failure.clause), _findings_block(failure)]
    transcript = CONVERSATIONS.entries_of(failure.transcript)
    if transcript is not None:
        sent = transcript.last_sent()
        title = "sent to the client" if transcript.is_server else "what was sent"
        if sent:
            parts.append(_block(title, sent, own_frame_tree(sent)))
    if failure.evidence is not None:
        parts.append(_evidence_block(failure.evidence))
    elif transcript is not None:
        wrong = [finding.what for finding in failure.findings if finding.what]
        response = transcript.last(Direction.RECEIVED)
        if response:
            title = _title_of_received(transcript)
            parts.append(_block(title, response, frame_tree(response, wrong)))
    if transcript is not None:
        parts.append(_indented(transcript.render()))
    parts.append(_knowledge_block(failure))
    return "\n\n".join(part for part in parts if part)


def _title_of_received(transcript: Transcript) -> str:
    """Return the title of the last received frame, which may be an earlier response."""
    if transcript.is_server:
        return "sent by the client"
    if transcript.ends_unanswered():
        return "nothing came back; the last frame that came before"
    return "what came back"


def clause_block(clause: Clause) -> str:
    """Return the clause's id, level and sentence."""
    sentence = textwrap.fill(
        clause.text, TEXT_WIDTH, initial_indent="  ", subsequent_indent="  "
    )
    return f"{clause.id} ({clause.level}) is not met.\n{sentence}"


def format_value(value: object) -> str:
    """Return *value* as a failure shows it."""
    text = value if isinstance(value, str) else named_codes(repr(value))
    if isinstance(value, str) and not _is_plain(value):
        text = repr(value)
    if len(text) > SHOWN_VALUE_SIZE:
        text = f"{text[:SHOWN_VALUE_SIZE]}... ({len(text)} characters)"
    return text


def _is_plain(text: str) -> bool:
    """Return whether a reader sees all of *text* without quotes."""
    is_visible = text.replace("\n", "").isprintable()
    return bool(text) and text == text.strip() and is_visible


def row(name: str, text: str) -> str:
    """Return one line of the two-column part; later lines of *text* are aligned."""
    return f"  {name:<9} " + text.replace("\n", "\n" + " " * 12)


def _findings_block(failure: ConformanceFailure) -> str:
    lines = []
    sent = failure.sent or _last_sent(failure.transcript)
    if sent:
        lines.append(row("sent", sent))
    for finding in failure.findings:
        lines.append(row("got", finding.found_text))
        lines.append(row("expected", finding.expected_text))
    return "\n".join(lines)


def _last_sent(transcript: Transcript | None) -> str:
    """Return the last request of the suite, empty where it plays the server."""
    if transcript is None or transcript.is_server:
        return ""
    data = transcript.last(Direction.SENT)
    return format_value(describe(data)) if data else ""


def _evidence_block(evidence: Evidence) -> str:
    text = explain(
        evidence.layout, evidence.data, wrong=evidence.wrong, base=evidence.base
    )
    return _block("what is wrong", evidence.data, text)


def _block(title: str, data: bytes, text: str) -> str:
    """Return *text* about *data* with its title."""
    return f"  {title}, {len(data)} bytes\n{text}"


def _knowledge_block(failure: ConformanceFailure) -> str:
    clause = failure.clause
    compared = [(finding.found, finding.expected) for finding in failure.findings]
    lines = [row("hint", text) for text in hints_of(clause, compared)]
    lines.append(row("learnt", clause.source))
    lines += [row("issue", issue) for issue in clause.issues]
    return "\n".join(lines)


def _indented(text: str) -> str:
    return textwrap.indent(text, "  ").rstrip()

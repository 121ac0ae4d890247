"""
Probing finds out, before any test, what a peer of somebody else's is and can do.

Which requests does it refuse as unknown (code 3), in which notation does it answer,
which release does it behave like? And is it honest: a nonsense code, field, group or
topic must be refused. Of a peer that is not, no refusal is believed. Nothing is
written: the probes ask, or name what cannot be there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.harness.address import Address
from conformance.harness.peer import NoAnswerError, Peer, PeerError
from conformance.harness.probe_requests import (
    NONSENSE,
    NONSENSE_CODE,
    OF_BROKER,
    OF_NAME_SERVER,
    Asked,
    Fields,
    bare,
)
from conformance.harness.speaker import request
from conformance.harness.target import Target
from spec.layout import LayoutError
from spec.wire.command import Command
from spec.wire.frame import SerializeType
from spec.wire.language import Version
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

PATIENCE_S = 3.0
"""For all answers together: what is refused is refused at once."""
SILENCE_S = 1.0
_FAILURES = (PeerError, AssertionError, LayoutError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What probing has found."""

    release: str
    """The studied release that it says it is, or behaves like."""
    refused: frozenset[int]
    """Codes of the requests that it refuses as unknown to it."""
    header: str
    """What it makes of a header in ROCKETMQ notation."""
    json: str
    """How it writes the numbers that are keys of JSON objects."""
    complaints: tuple[str, ...]
    """What an honest peer would have refused, and it did not."""


def probe(target: Target) -> Probed:
    """Return what *target*, which has been started, turns out to be."""
    refused, complaints = refusals(target)
    return Probed(
        release=guess_release(target.namesrv, target.broker) or target.release,
        refused=refused,
        header=_header_notation(target.namesrv),
        json=_json_notation(target.namesrv),
        complaints=complaints,
    )


def examine(target: Target) -> tuple[str, ...]:
    """Let *target* know what it refuses; return the complaints, which forbid that."""
    refused, complaints = refusals(target)
    target.refuses = frozenset() if complaints else refused
    return complaints


def refusals(target: Target) -> tuple[frozenset[int], tuple[str, ...]]:
    """Return the codes that *target* refuses, and what forbids to believe it."""
    refused: set[int] = set()
    complaints: list[str] = []
    for address, asked in (
        (target.namesrv, OF_NAME_SERVER),
        (target.broker, {**OF_BROKER, **bare(target.refuses)}),
    ):
        if address is not None:
            answers = ask_all(address, asked)
            refused.update(code for code in answers if _is_refusal(answers[code]))
            complaints += _false_claims(target.refuses, answers)
    complaints += dishonesties(target.namesrv, target.broker)
    return frozenset(refused), tuple(complaints)


def ask_all(address: Address, asked: Asked) -> dict[int, Command | None]:
    """Return the answer to each request; None where there was none in time."""
    answers: dict[int, Command | None] = dict.fromkeys(asked)
    try:
        with Peer(address) as peer:
            sent = {code: peer.send(request(code, asked[code])) for code in asked}
            give_up_at = time.monotonic() + PATIENCE_S
            for code, question in sent.items():
                left_s = max(give_up_at - time.monotonic(), 0.01)
                try:
                    answers[code] = peer.receive_answer(
                        question.opaque, timeout_s=left_s
                    )
                except NoAnswerError:
                    continue
    except _FAILURES:
        return answers
    return answers


def dishonesties(namesrv: Address | None, broker: Address | None) -> list[str]:
    """Return what nonsense was taken for good."""
    probes: tuple[tuple[str, Address | None, int, Fields, str], ...] = (
        ("name server", namesrv, NONSENSE_CODE, {}, f"code {NONSENSE_CODE}"),
        ("broker", broker, NONSENSE_CODE, {}, f"code {NONSENSE_CODE}"),
        (
            "name server",
            namesrv,
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            {"topic": NONSENSE},
            "topic",
        ),
        (
            "broker",
            broker,
            RequestCode.GET_MAX_OFFSET,
            {"topic": NONSENSE, "queueId": NONSENSE},
            "queue id",
        ),
        (
            "broker",
            broker,
            RequestCode.GET_CONSUMER_LIST_BY_GROUP,
            {"consumerGroup": NONSENSE},
            "group",
        ),
    )
    return [
        f"the {who} takes a nonsense {what} for good: it answers success"
        for who, address, code, fields, what in probes
        if address is not None and _succeeds(address, code, fields)
    ]


def guess_release(namesrv: Address | None, broker: Address | None) -> str | None:
    """
    Return the studied release that a peer's answers look like.

    Answers name their sender's release. Where they do not, it is told by who refuses an
    unknown request, which older releases leave unanswered.
    """
    if broker is None or namesrv is None:
        return None
    answer = _answer(broker, request(RequestCode.GET_MAX_OFFSET, {}))
    if answer is None:
        return None
    known = [one for one in Version if one <= answer.version]
    if known and answer.version:
        return known[-1].name.removeprefix("V").replace("_", ".")
    if not _is_refusal(_answer(broker, Command(code=NONSENSE_CODE))):
        return "4.6.0"
    in_both = _is_refusal(_answer(namesrv, Command(code=NONSENSE_CODE)))
    return "5.3.3" if in_both else "4.9.7"


def names_of(codes: Iterable[int]) -> list[str]:
    """Return the names of request codes, in the order of the codes."""
    return [RequestCode(code).name for code in sorted(codes)]


def _answer(address: Address, question: Command) -> Command | None:
    try:
        with Peer(address) as peer:
            return peer.request(question, timeout_s=SILENCE_S)
    except _FAILURES:
        return None


def _succeeds(address: Address, code: int, fields: Fields) -> bool:
    answer = _answer(address, request(code, fields))
    return answer is not None and answer.code == ResponseCode.SUCCESS


def _is_refusal(answer: Command | None) -> bool:
    wanted = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    return answer is not None and answer.code == wanted


def _false_claims(
    declared: frozenset[int], answers: Mapping[int, Command | None]
) -> list[str]:
    """Return where a request is answered that was declared to be refused."""
    return [
        f"it declares that it refuses {RequestCode(code).name}, but answers"
        f" code {answer.code}"
        for code, answer in answers.items()
        if code in declared and answer is not None and not _is_refusal(answer)
    ]


def _header_notation(namesrv: Address | None) -> str:
    if namesrv is None:
        return "not asked"
    question = Command(
        code=RequestCode.GET_BROKER_CLUSTER_INFO, serialize_type=SerializeType.ROCKETMQ
    )
    answer = _answer(namesrv, question)
    if answer is None:
        return "leaves ROCKETMQ headers unanswered"
    return f"answers ROCKETMQ headers in {SerializeType(answer.serialize_type).name}"


def _json_notation(namesrv: Address | None) -> str:
    asked = request(RequestCode.GET_BROKER_CLUSTER_INFO)
    answer = _answer(namesrv, asked) if namesrv is not None else None
    body = answer.body if answer is not None else b""
    if re.search(rb'[{,]\s*\d+\s*:\s*"', body):
        return "numbers as keys are bare, as fastjson writes them"
    if re.search(rb'[{,]\s*"\d+"\s*:\s*"', body):
        return "numbers as keys are quoted, as JSON wants them"
    return "no number is a key in what it said"

"""
Probe: detect the release and the abilities of a foreign peer before any test.

It finds the request codes that the peer refuses as unknown (code 3), the notation of
its headers, and the release that it behaves like. Honesty is checked too: a nonsense
code, field, group or topic must be refused. The refusals of a dishonest peer do not
count. Nothing is written: probes only read, or name things that cannot exist.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.harness.client.access import OPEN, Access
from conformance.harness.client.address import Address
from conformance.harness.client.client import request
from conformance.harness.client.peer import Peer
from conformance.harness.client.peer_errors import (
    NoResponseError,
    PeerError,
    SecondResponseError,
    WrongOpaqueError,
)
from conformance.harness.targets.probing.probe_requests import (
    NONSENSE,
    NONSENSE_CODE,
    OF_BROKER,
    OF_NAME_SERVER,
    Fields,
    ProbeRequests,
    bare,
)
from conformance.harness.targets.target import Target
from spec.layout import LayoutError
from spec.wire.remoting.command import Command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.language import Version
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

PATIENCE_S = 3.0
"""For all responses together: refusals are immediate."""
SILENCE_S = 1.0
FIRST_OF_5 = 412
"""Ordinal of V5_0_0_SNAPSHOT in Java's MQVersion.Version."""
CLUSTER_INFO = RequestCode.GET_BROKER_CLUSTER_INFO
STUDIED = tuple(one for one in Version if one is not Version.V4_1_0_SNAPSHOT)
REFUSALS_DO_NOT_COUNT = (
    "its refusals do not count: a test that needs a refused request fails"
)
"""Consequence of a violation."""
WRONG_OPAQUES = (
    f"sends responses with opaques that no request had ({WrongOpaqueError.clause})"
)
_HABITS = {
    WrongOpaqueError: WRONG_OPAQUES,
    SecondResponseError: (
        f"sends a second response to a request ({SecondResponseError.clause})"
    ),
}
_FAILURES = (PeerError, AssertionError, LayoutError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """Result of probing."""

    release: str | None
    """Studied release that the peer reports or behaves like; None if it is silent."""
    refused: frozenset[int]
    """Codes of the requests that it refuses as unknown to it."""
    header: str
    """Reaction to a header in ROCKETMQ notation."""
    json: str
    """Form of numbers that are keys of JSON objects."""
    violations: tuple[str, ...]
    """Nonsense that the peer accepted, and wrong opaques of its responses."""


def probe(target: Target) -> ProbeResult:
    """Return the result of probing *target*, which has been started."""
    refused, violations = refusals(target)
    guess = guess_release(target.namesrv, target.broker, target.access)
    return ProbeResult(
        release=guess.release if guess is not None else None,
        refused=refused,
        header=_header_notation(target),
        json=_json_notation(target),
        violations=violations,
    )


def examine(target: Target) -> tuple[str, ...]:
    """Set the refused codes of *target*; return violations, which prevent that."""
    refused, violations = refusals(target)
    target.refuses = frozenset() if violations else refused
    return violations


def refusals(target: Target) -> tuple[frozenset[int], tuple[str, ...]]:
    """Return the codes that *target* refuses, and its violations of the protocol."""
    refused: set[int] = set()
    violations: list[str] = []
    for role, address, requests in (
        ("name server", target.namesrv, OF_NAME_SERVER),
        ("broker", target.broker, {**OF_BROKER, **bare(target.refuses)}),
    ):
        if address is None:
            continue
        try:
            responses = invoke_all(address, requests, target.access)
        except WrongOpaqueError as error:
            violations.append(f"the {role} {_HABITS[type(error)]}")
            continue
        refused.update(code for code in responses if _is_refusal(responses[code]))
        violations += _false_claims(target.refuses, responses)
    violations += _accepted_nonsense(target)
    return frozenset(refused), tuple(violations)


def refused_codes(
    address: Address, requests: ProbeRequests, access: Access = OPEN
) -> list[int]:
    """Return the codes among *requests* that the peer at *address* refuses."""
    try:
        responses = invoke_all(address, requests, access)
    except WrongOpaqueError:
        return []
    return [code for code in responses if _is_refusal(responses[code])]


def unanswered_codes(
    address: Address, requests: ProbeRequests, access: Access = OPEN
) -> list[int]:
    """Return the codes among *requests* without a response in time.

    The list is empty if a response has the opaque of no request.
    """
    try:
        responses = invoke_all(address, requests, access)
    except WrongOpaqueError:
        return []
    return [code for code in responses if responses[code] is None]


def invoke_all(
    address: Address, requests: ProbeRequests, access: Access = OPEN
) -> dict[int, Command | None]:
    """Return the response to each request; None where there was none in time.

    Raises WrongOpaqueError for a response that belongs to no request.
    """
    responses: dict[int, Command | None] = dict.fromkeys(requests)
    try:
        with Peer(address, access) as peer:
            sent = {code: peer.send(request(code, requests[code])) for code in requests}
            give_up_at = time.monotonic() + PATIENCE_S
            for code, one in sent.items():
                left_s = max(give_up_at - time.monotonic(), 0.01)
                try:
                    responses[code] = peer.receive_response(
                        one.opaque, timeout_s=left_s
                    )
                except NoResponseError:
                    continue
    except WrongOpaqueError:
        raise
    except _FAILURES:
        return responses
    return responses


def _accepted_nonsense(target: Target) -> list[str]:
    """Return the nonsense requests that *target* accepted."""
    namesrv, broker = target.namesrv, target.broker
    unknown_code = f"request code {NONSENSE_CODE}, which no release has"
    probes: tuple[tuple[str, Address | None, int, Fields, str], ...] = (
        ("name server", namesrv, NONSENSE_CODE, {}, unknown_code),
        ("broker", broker, NONSENSE_CODE, {}, unknown_code),
        (
            "name server",
            namesrv,
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            {"topic": NONSENSE},
            "GET_ROUTEINFO_BY_TOPIC for a topic that does not exist",
        ),
        (
            "broker",
            broker,
            RequestCode.GET_MAX_OFFSET,
            {"topic": NONSENSE, "queueId": NONSENSE},
            "GET_MAX_OFFSET with a queueId that is not a number",
        ),
        (
            "broker",
            broker,
            RequestCode.GET_CONSUMER_LIST_BY_GROUP,
            {"consumerGroup": NONSENSE},
            "GET_CONSUMER_LIST_BY_GROUP for a group that does not exist",
        ),
    )
    return [
        f"the {who} responds with SUCCESS to {nonsense}"
        for who, address, code, fields, nonsense in probes
        if address is not None
        and _succeeds(_response(address, request(code, fields), target.access))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseGuess:
    """Studied release that a peer's responses suggest."""

    release: str
    reason: str
    """Observation that suggests it."""


def guess_release(
    namesrv: Address | None, broker: Address | None, access: Access = OPEN
) -> ReleaseGuess | None:
    """Return the studied release that a peer's responses suggest.

    Responses carry their sender's release. Without it, the reaction to an unknown
    request decides: older releases do not respond to it.
    """
    address = broker or namesrv
    if address is None:
        return None
    code = RequestCode.GET_MAX_OFFSET if broker is not None else CLUSTER_INFO
    response = _response(address, request(code, {}), access)
    if response is None:
        return None
    if response.version:
        reason = f"its responses carry version {response.version}"
        return ReleaseGuess(release=release_of_version(response.version), reason=reason)
    reason = f"its reaction to the unknown request code {NONSENSE_CODE}"
    release = _release_of_refusals(namesrv, address, access)
    return ReleaseGuess(release=release, reason=reason)


def release_of_version(version: int) -> str:
    """Return the studied release of the same major number nearest to *version*."""
    same_major = [
        one for one in STUDIED if (one >= FIRST_OF_5) == (version >= FIRST_OF_5)
    ]
    nearest = min(same_major, key=lambda one: abs(one - version))
    return nearest.name.removeprefix("V").replace("_", ".")


def _release_of_refusals(
    namesrv: Address | None, broker: Address, access: Access
) -> str:
    nonsense = Command(code=NONSENSE_CODE)
    if not _is_refusal(_response(broker, nonsense, access)):
        return "4.6.0"
    if namesrv is None or _is_refusal(_response(namesrv, nonsense, access)):
        return "5.3.3"
    return "4.9.7"


def names_of(codes: Iterable[int]) -> list[str]:
    """Return the names of request codes, in the order of the codes."""
    return [RequestCode(code).name for code in sorted(codes)]


def _response(address: Address, command: Command, access: Access) -> Command | None:
    """Return the response of the peer at *address*, None without a valid one."""
    try:
        with Peer(address, access) as peer:
            return peer.request(command, timeout_s=SILENCE_S)
    except _FAILURES:
        return None


def _succeeds(response: Command | None) -> bool:
    return response is not None and response.code == ResponseCode.SUCCESS


def _is_refusal(response: Command | None) -> bool:
    wanted = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    return response is not None and response.code == wanted


def _false_claims(
    declared: frozenset[int], responses: Mapping[int, Command | None]
) -> list[str]:
    """Return the codes that are declared as refused and have another response."""
    return [
        f"it declares that it refuses {RequestCode(code).name}, but its response has"
        f" code {response.code}"
        for code, response in responses.items()
        if code in declared and response is not None and not _is_refusal(response)
    ]


def _header_notation(target: Target) -> str:
    if target.namesrv is None:
        return "not probed"
    binary = Command(code=CLUSTER_INFO, serialize_type=SerializeType.ROCKETMQ)
    response = _response(target.namesrv, binary, target.access)
    if response is None:
        return "leaves ROCKETMQ headers unanswered"
    return f"answers ROCKETMQ headers in {SerializeType(response.serialize_type).name}"


def _json_notation(target: Target) -> str:
    response = None
    if target.namesrv is not None:
        response = _response(target.namesrv, request(CLUSTER_INFO), target.access)
    body = response.body if response is not None else b""
    if re.search(rb'[{,]\s*\d+\s*:\s*"', body):
        return "numbers as keys are bare, as fastjson writes them"
    if re.search(rb'[{,]\s*"\d+"\s*:\s*"', body):
        return "numbers as keys are quoted, as in JSON"
    return "no number is a key in its response"

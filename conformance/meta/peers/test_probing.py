"""Probing finds what a peer refuses, guesses its release, and sees through a liar."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import ChildRun
from conformance.harness.client.access import OPEN
from conformance.harness.client.certificates import server_settings
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.targets.probing.probe import (
    WRONG_OPAQUES,
    examine,
    guess_release,
    probe,
)
from conformance.harness.targets.probing.probe_requests import NONSENSE_CODE
from conformance.harness.targets.target import Target, parse_target
from conformance.meta.made_suite import run_made
from conformance.meta.peers.lying_cluster import (
    REFUSED,
    UNKNOWN,
    boastful,
    cluster_with_codes,
    modest,
)
from spec.security import tls
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

FAILING_REQUESTS = """
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

@pytest.mark.clause("WIRE-FRAME-001")
def test_passes(broker):
    assert broker.invoke(RequestCode.GET_MIN_OFFSET).code == 0

@pytest.mark.clause("WIRE-FRAME-002")
def test_needs_what_is_refused(broker):
    answer = broker.invoke(RequestCode.QUERY_CONSUME_QUEUE)
    expect("WIRE-FRAME-002", found=answer.code, expected=0, what="code")

@pytest.fixture
def prepared(broker):
    assert broker.invoke(RequestCode.QUERY_CONSUME_QUEUE).code == 0

@pytest.mark.clause("WIRE-FRAME-003")
def test_is_prepared_with_what_is_refused(prepared):
    pass

@pytest.mark.clause("WIRE-FRAME-005")
def test_leaves_the_refusal_unread(broker):
    broker.peer.send(Command(code=RequestCode.QUERY_CONSUME_QUEUE))
    fails("WIRE-FRAME-005")

@pytest.mark.clause("WIRE-FRAME-004")
def test_fails_otherwise(broker):
    fails("WIRE-FRAME-004")
"""


def at(server: LyingServer) -> Target:
    """Return a target that listens where *server* does."""
    target = Target("made up")
    target.namesrv = target.broker = server.address
    return target


def run(directory: Path, server: LyingServer) -> ChildRun:
    """Run tests, of which some need what is refused, on *server*."""
    return run_made(directory, str(server.address), FAILING_REQUESTS)


def test_what_an_honest_peer_refuses_is_known() -> None:
    with cluster_with_codes(modest, version=334) as server:
        target = at(server)
        found = probe(target)
        assert examine(target) == ()
    assert found.refused == {REFUSED}
    assert found.violations == ()
    assert target.refuses == {REFUSED}
    assert found.release == "4.6.0"
    assert "bare" in found.json
    assert found.header == "answers ROCKETMQ headers in JSON"


def test_of_a_liar_every_nonsense_is_named_and_no_refusal_believed() -> None:
    with cluster_with_codes(boastful) as server:
        target = at(server)
        violations = "\n".join(examine(target))
    for who in ("name server", "broker"):
        assert f"the {who} responds with SUCCESS to request code 300017" in violations
    for request in (
        "GET_ROUTEINFO_BY_TOPIC for a topic that does not exist",
        "GET_MAX_OFFSET with a queueId that is not a number",
        "GET_CONSUMER_LIST_BY_GROUP for a group that does not exist",
    ):
        assert f"responds with SUCCESS to {request}" in violations
    assert target.refuses == frozenset()


def test_a_refusal_that_was_declared_and_is_none_is_named() -> None:
    with cluster_with_codes(modest) as server:
        target = at(server)
        target.refuses = frozenset({REFUSED, RequestCode.GET_MIN_OFFSET})
        (violation,) = examine(target)
    assert (
        violation
        == "it declares that it refuses GET_MIN_OFFSET, but its response has code 0"
    )


@pytest.mark.parametrize(
    ("version", "broker_knows", "release"),
    [
        (293, True, "4.4.0"),
        (413, True, "5.3.3"),
        (474, True, "5.3.3"),
        (480, True, "5.3.3"),
        (0, False, "4.6.0"),
    ],
)
def test_a_release_is_guessed_by_what_answers_say(
    version: int, broker_knows: bool, release: str
) -> None:
    def responses(request: Command) -> int | None:
        if request.code == NONSENSE_CODE:
            return UNKNOWN if broker_knows else None
        return modest(request)

    with cluster_with_codes(responses, version=version) as server:
        guess = guess_release(server.address, server.address)
    assert guess is not None
    assert guess.release == release


def test_where_nothing_else_tells_who_refuses_the_unknown_does() -> None:
    with (
        cluster_with_codes(modest) as new,
        cluster_with_codes(lambda _: None) as silent,
    ):
        both = guess_release(new.address, new.address)
        broker_only = guess_release(silent.address, new.address)
    assert both is not None
    assert broker_only is not None
    assert (both.release, broker_only.release) == ("5.3.3", "4.9.7")


def test_a_peer_that_requires_tls_is_probed_over_tls() -> None:
    conf = {**server_settings(tls.ENFORCING), "tls": "any"}
    with parse_target("embedded:", conf=conf) as target:
        target.refuses = frozenset({REFUSED})
        encrypted, (violation,) = probe(target), examine(target)
        target.access = OPEN
        plain = probe(target)
    assert violation.startswith("it declares that it refuses")
    assert encrypted.release == "4.6.0"
    assert "ROCKETMQ headers in" in encrypted.header
    assert plain.release is None
    assert plain.header == "leaves ROCKETMQ headers unanswered"


def test_a_peer_that_closes_has_no_refusals() -> None:
    with LyingServer(lambda _: b"") as server:
        found = probe(at(server))
    assert (found.refused, found.violations) == (frozenset(), ())


def test_wrong_opaques_are_a_violation() -> None:
    with LyingServer(lambda asked: honest(asked, opaque=asked.opaque + 1000)) as server:
        found = probe(at(server))
    assert found.refused == frozenset()
    assert found.violations == (
        f"the name server {WRONG_OPAQUES}",
        f"the broker {WRONG_OPAQUES}",
    )


def test_what_needs_a_refused_request_is_unsupported(tmp_path: Path) -> None:
    with cluster_with_codes(modest) as server:
        ended = run(tmp_path, server)
    assert ended.outcomes == {
        "WIRE-FRAME-001": "pass",
        "WIRE-FRAME-002": "unsupported",
        "WIRE-FRAME-003": "unsupported",
        "WIRE-FRAME-004": "fail",
        "WIRE-FRAME-005": "unsupported",
    }
    printed = " ".join(ended.output.split())
    assert "the target refuses the request QUERY_CONSUME_QUEUE (WIRE-" in printed
    assert "the target refuses: QUERY_CONSUME_QUEUE" in ended.output
    assert ended.report.target.refuses == ["QUERY_CONSUME_QUEUE"]


def test_a_liar_gets_no_discount(tmp_path: Path) -> None:
    with cluster_with_codes(boastful) as server:
        ended = run(tmp_path, server)
    assert ended.outcomes["WIRE-FRAME-002"] == "fail"
    assert "not honest: the broker responds with SUCCESS to GET_MAX" in ended.output

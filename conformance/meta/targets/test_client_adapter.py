"""Adapters without a hello: one line with their output, soon."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from conformance.client.application import Application
from conformance.client.calls import Call, CallOutcome
from conformance.client.conftest import SharedAdapter
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ReceivedRequest
from conformance.harness.blocked.skips import of_skip
from conformance.harness.client.transcript import Direction, Entry, Transcript
from conformance.harness.failure.failure import ConformanceFailure, Finding
from conformance.harness.process.deadline import TooLateError
from conformance.harness.pytest_plugin.options import options_of
from conformance.harness.pytest_plugin.verdicts.verdict import again, sentence_of
from conformance.harness.report.outcome import Outcome
from conformance.harness.targets.client_adapter import (
    FIRST_HELLO_VARIABLE,
    Adapter,
    AdapterError,
    ResponseFuture,
)
from conformance.harness.targets.client_hello import FEATURES
from conformance.harness.targets.client_target import ClientTarget
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import TargetError, parse_target
from spec.wire.bodies.fastjson import loads
from spec.wire.bodies.json_object import as_object, list_in
from spec.wire.remoting.command import Command, encode_command

SILENT = "import sys; print('ready', file=sys.stderr, flush=True); sys.stdin.read()"
EVENT = r'import sys; print("{\"event\": \"x\"}", flush=True); sys.stdin.read()'


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (
            SILENT,
            "no hello from the adapter: it wrote no line within 3 s (is its output"
            " flushed?); its standard error ends with 'ready'",
        ),
        (
            EVENT,
            "no hello from the adapter: it wrote events, but no response within 3 s;"
            " its standard error is empty",
        ),
        (
            "raise SystemExit('no client here')",
            "no hello from the adapter: it ended with exit status 1; its standard error"
            " ends with 'no client here'",
        ),
        (
            "print('hello', flush=True)",
            "no hello from the adapter: it wrote what is no line: b'hello\\n'; its"
            " standard error is empty",
        ),
        (
            "import sys; sys.exit('Error: no client\\n    at a.js:1\\n\\nNode.js v20')",
            "no hello from the adapter: it ended with exit status 1; its standard error"
            " has 'Error: no client'",
        ),
    ],
    ids=["silent", "event", "ended", "text", "stack"],
)
def test_an_adapter_without_a_hello_is_one_line(
    program: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FIRST_HELLO_VARIABLE, "3")
    command = shlex.join([sys.executable, "-c", program])
    with pytest.raises(TargetError) as error:
        parse_target(f"client:{command}").start()
    assert str(error.value) == reason


@pytest.mark.parametrize(
    ("exists", "reason"),
    [(True, "Permission denied"), (False, "No such file or directory")],
)
def test_an_adapter_that_cannot_be_executed_is_one_line(
    tmp_path: Path, exists: bool, reason: str
) -> None:
    program = tmp_path / "adapter.sh"
    if exists:
        program.touch(0o644)
    with pytest.raises(TargetError, match=f"cannot start .*{reason}: .*adapter.sh'$"):
        parse_target(f"client:{program}").start()


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        ([], "the result of its hello is not an object: []"),
        (None, "the result of its hello is not an object: None"),
        ({}, "its hello lacks 'release'"),
        (
            {"release": "abc"},
            "the release in its hello: 'abc' is not a release such as 4.6.0",
        ),
        (
            {"release": "9.9"},
            "the release in its hello, '9.9', is not one of Apache RocketMQ",
        ),
        (
            {"release": "4.6.0", "language": "NODE"},
            "unknown language in its hello: 'NODE'; did you mean NODE_JS?",
        ),
        (
            {"release": "4.6.0", "features": ["snyc"]},
            "unknown feature in its hello: 'snyc'; did you mean sync?",
        ),
        (
            {"release": "4.6.0", "features": "sync"},
            "the features in its hello are not a list: 'sync'",
        ),
        (
            {"release": "4.6.0", "intervals": {"rebalance_ms": "abc"}},
            "rebalance_ms in its hello is not a number of milliseconds: 'abc'",
        ),
    ],
)
def test_a_wrong_hello_is_one_line(hello: object, reason: str) -> None:
    line = json.dumps({"id": 1, "result": hello})
    program = f"import sys; next(sys.stdin); print({line!r}, flush=True); input()"
    command = shlex.join([sys.executable, "-c", program])
    with pytest.raises(TargetError) as error:
        parse_target(f"client:{command}").start()
    assert str(error.value) == reason


def test_the_features_of_the_page_are_those_of_the_suite() -> None:
    page = SOURCES / "docs" / "client_adapter.md"
    _, _, behind = page.read_text(encoding="utf-8").partition("| `features` |")
    assert set(behind.split("`")[1].split()) == FEATURES


DIES = """
import sys
sys.stdin.readline()
print()
sys.stdin.readline()
sys.exit("Error: boom")
"""


def test_the_end_of_an_adapter_comes_before_the_request() -> None:
    line = json.dumps({"id": 1, "result": {"release": "4.6.0"}})
    program = DIES.replace("print()", f"print({line!r}, flush=True)")
    adapter = Adapter(shlex.join([sys.executable, "-c", program]))
    try:
        adapter.hello()
        pending = adapter.call("producer", name="p1", options={"much": "x" * 99})
        with pytest.raises(AdapterError) as error:
            pending.wait()
    finally:
        adapter.close()
    first, *_, last = str(error.value).splitlines()
    assert first == (
        "it ended with exit status 1 before its response to producer; its standard"
        " error has 'Error: boom'"
    )
    assert last.startswith('request: {"id": 2, "verb": "producer", "name": "p1", ')


def test_the_error_of_a_call_is_one_line() -> None:
    text = "CODE: 22 DESC: no offset\nFor more information"
    error = {"kind": "broker", "code": 22, "text": text}
    assert CallOutcome(error=error).error_text == "broker 22: CODE: 22 DESC: no offset"
    assert CallOutcome(error={"kind": "timeout", "code": None}).error_text == "timeout"
    assert CallOutcome(result={}).error_text == ""


def test_tests_are_blocked_after_two_without_a_response() -> None:
    silent = [
        cast(Adapter, SimpleNamespace(unanswered=1, running=True, close=lambda: None))
        for _ in range(2)
    ]
    launched = iter(silent)
    target = SimpleNamespace(launch=lambda: next(launched))
    shared = SharedAdapter(cast(ClientTarget, target))
    assert [shared.adapter(), shared.adapter()] == silent
    with pytest.raises(pytest.skip.Exception) as skip:
        shared.adapter()
    reason = "the adapter has left the requests of 2 tests unanswered"
    assert of_skip(str(skip.value)) == (Outcome.BLOCKED, reason)


def test_a_slow_response_ends_the_count_of_silent_tests() -> None:
    adapter = SimpleNamespace(unanswered=0, running=True, close=lambda: None)
    target = SimpleNamespace(launch=lambda: adapter)
    shared = SharedAdapter(cast(ClientTarget, target))
    shared.adapter()
    for unanswered in (1, 0, 1, 0):
        adapter.unanswered = unanswered
        assert shared.adapter() is cast(Adapter, adapter)


def test_a_failure_repeats_its_test_with_the_command_for_clients(
    request: pytest.FixtureRequest,
) -> None:
    options = replace(options_of(request.config), target="client:node a.js")
    name = "test_a_failure_repeats_its_test_with_the_command_for_clients"
    command = f"rmqc test-client --adapter 'node a.js' -k '{name}' -v"
    assert again(request.node, options) == command


def test_the_test_of_a_client_is_a_sentence(request: pytest.FixtureRequest) -> None:
    sentence = "the test of a client is a sentence"
    assert sentence_of(request.node) == f"  test      {sentence}"


def test_frames_of_a_client_are_not_called_sent() -> None:
    frame = encode_command(Command(code=0, opaque=1, flag=1, language="JAVA"))
    transcript = Transcript("the client", is_server=True)
    for direction in (Direction.RECEIVED, Direction.SENT):
        transcript.add(Entry(direction=direction, at_ms=1, data=frame))
    finding = Finding(found=1, expected=2)
    text = str(ConformanceFailure("CLIENT-SEND-001", [finding], transcript=transcript))
    assert text.index("1 ms -> response 0") < text.index("1 ms <- response 0")
    for title in ("sent to the client, ", "sent by the client, "):
        assert title in text
    for title in ("what was sent", "what came back", "  sent      "):
        assert title not in text


def test_an_unsupported_verb_ends_a_test_that_waits_for_its_request() -> None:
    adapter = SimpleNamespace(responses={1: {"unsupported": "of before"}, 2: {}})
    application = Application(
        adapter=cast(Adapter, adapter),
        features=frozenset(),
        intervals={},
        cluster=cast(ScriptedCluster, None),
        first_response=1,
    )
    application.end_without_verdict()
    assert not application.has_unsupported_response()
    adapter.responses[3] = {"unsupported": "send"}
    assert application.has_unsupported_response()
    with pytest.raises(pytest.skip.Exception, match="does not support this: send"):
        application.end_without_verdict()


def test_the_error_of_an_adapter_ends_a_test_without_a_verdict() -> None:
    error = {"kind": "adapter", "code": None, "text": "TypeError()"}
    adapter = SimpleNamespace(responses={1: {"error": error}}, responded_at_ms={1: 5})
    line = ResponseFuture(cast(Adapter, adapter), {"id": 1, "verb": "send"})
    adapter.wait_until = lambda *_, **__: None
    with pytest.raises(AdapterError, match="the adapter failed: TypeError"):
        Call(line).done_at_ms()
    application = replace(an_application(), adapter=cast(Adapter, adapter))
    with pytest.raises(AdapterError, match="the adapter failed: TypeError"):
        application.end_without_verdict()


def an_application(**intervals: int) -> Application:
    """Return the application of a client that announces *intervals*."""
    return Application(
        adapter=cast(Adapter, None),
        features=frozenset({"push"}),
        intervals=intervals,
        cluster=cast(ScriptedCluster, None),
    )


def test_an_option_for_a_fixed_interval_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: dict[str, object] = {}

    def start(_: Application, verb: str, **fields: object) -> str:
        sent[verb] = fields["options"]
        return verb

    monkeypatch.setattr(Application, "_start", start)
    application = an_application(persist_ms=5000, lock_ms=2000)
    application.producer(persist_ms=200, heartbeat_ms=200, send_timeout_ms=1)
    application.consumer("T", options={"persist_ms": 200, "threads": 2})
    assert sent == {
        "producer": {"heartbeat_ms": 200, "send_timeout_ms": 1},
        "consumer": {"threads": 2},
    }


def test_a_test_of_a_fixed_interval_is_unsupported() -> None:
    application = an_application(heartbeat_ms=30_000)
    application.need_adjustable("persist_ms")
    with pytest.raises(pytest.skip.Exception, match="no option for heartbeat_ms"):
        application.need_adjustable("heartbeat_ms")


@pytest.mark.parametrize(("is_5x", "acting_master"), [(False, None), (True, False)])
def test_routes_are_those_of_the_major_release_of_a_client(
    is_5x: bool, acting_master: bool | None
) -> None:
    cluster = ScriptedCluster(is_5x=is_5x)
    cluster.route("T", {"broker-a": 1})
    responses: list[bytes] = []
    request = SimpleNamespace(
        command=SimpleNamespace(fields={"topic": "T"}),
        respond=lambda _code, body: responses.append(body),
    )
    try:
        cluster.name_server.respond_route(cast(ReceivedRequest, request))
    finally:
        cluster.close()
    (broker,) = list_in(as_object(loads(responses[0])), "brokerDatas")
    assert as_object(broker).get("enableActingMaster") == acting_master
    assert (b"topicSysFlag" in responses[0]) == is_5x


def test_held_messages_are_released_at_the_end_of_a_test() -> None:
    sent: list[tuple[str, object]] = []

    def call(verb: str, **fields: object) -> SimpleNamespace:
        sent.append((verb, fields.get("keys")))
        return SimpleNamespace(wait=lambda _timeout_s: {"result": {}})

    adapter = SimpleNamespace(call=call, running=True)
    application = replace(an_application(), adapter=cast(Adapter, adapter))
    application.cluster = cast(ScriptedCluster, SimpleNamespace(namesrv="n"))
    application.consumer("T", outcomes={"a": ["later", "hold"], "b": ["fail"]})
    application.close()
    assert sent == [("consumer", None), ("stop", None), ("release", "a")]


def test_no_server_waits_on_when_it_is_futile() -> None:
    responses = iter([False, True])
    cluster = ScriptedCluster()
    cluster.broker()
    cluster.end_waits(lambda: next(responses))
    later = cluster.broker("broker-b")
    try:
        with pytest.raises(TooLateError, match="at broker-b"):
            later.wait_for(10)
        for one in (cluster.name_server, cluster.broker()):
            with pytest.raises(StopIteration):  # each checks, too
                one.wait_until(lambda: False, what="it is", timeout_s=9)
    finally:
        cluster.close()

"""Adapters without a hello: one line with their output, soon."""

from __future__ import annotations

import shlex
import sys
from types import SimpleNamespace
from typing import cast

import pytest

from conformance.client.application import Application
from conformance.client.scripted_cluster import ScriptedCluster
from conformance.harness.process.deadline import TooLateError
from conformance.harness.targets.client_adapter import FIRST_HELLO_VARIABLE, Adapter
from conformance.harness.targets.target import TargetError, parse_target

SILENT = "import sys; print('ready', file=sys.stderr, flush=True); sys.stdin.read()"
HELLO = r'print("{\"id\": 1, \"result\": {}}", flush=True)'
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
        (HELLO, "its hello lacks 'release'"),
    ],
    ids=["silent", "event", "ended", "text", "stack", "no release"],
)
def test_an_adapter_without_a_hello_is_one_line(
    program: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FIRST_HELLO_VARIABLE, "3")
    command = shlex.join([sys.executable, "-c", program])
    with pytest.raises(TargetError) as error:
        parse_target(f"client:{command}").start()
    assert str(error.value) == reason


def test_an_unsupported_verb_ends_a_test_that_waits_for_its_request() -> None:
    adapter = SimpleNamespace(answers={1: {"unsupported": "of before"}, 2: {}})
    application = Application(
        adapter=cast(Adapter, adapter),
        features=frozenset(),
        intervals={},
        cluster=cast(ScriptedCluster, None),
        first_answer=1,
    )
    application.end_if_unsupported()
    assert not application.has_unsupported_answer()
    adapter.answers[3] = {"unsupported": "send"}
    assert application.has_unsupported_answer()
    with pytest.raises(pytest.skip.Exception, match="does not support this: send"):
        application.end_if_unsupported()


def test_no_server_waits_on_when_it_is_futile() -> None:
    answers = iter([False, True])
    cluster = ScriptedCluster()
    cluster.broker()
    cluster.end_waits(lambda: next(answers))
    later = cluster.broker("broker-b")
    try:
        with pytest.raises(TooLateError, match="reached broker-b"):
            later.wait_for(10)
        for one in (cluster.name_server, cluster.broker()):
            with pytest.raises(StopIteration):  # each checks, too
                one.wait_until(lambda: False, what="it is", timeout_s=9)
    finally:
        cluster.close()

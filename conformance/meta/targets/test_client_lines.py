"""Lines of adapters that break the protocol, and programs that they leave behind."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from conformance.harness.targets import client_adapter
from conformance.harness.targets.client_adapter import Adapter, AdapterError
from conformance.harness.targets.client_lines import event_error, response_error

RESPONDS = """
import sys
sys.stdin.readline()
print(sys.argv[1], flush=True)
sys.stdin.read()
"""
LEAVES = """
import subprocess, sys
subprocess.Popen(["cat", sys.argv[1]], start_new_session=True)
print('{"event": "started"}', flush=True)
"""
ENDS_WITHIN_S = 30.0


def adapter_of(program: str, *arguments: str) -> Adapter:
    """Return a started adapter in Python."""
    return Adapter(shlex.join([sys.executable, "-c", program, *arguments]))


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ({"id": 1001, "result": {}}, "it responded to no request, by the id 1001: "),
        ({"id": "1", "result": {}}, "it responded to no request, by the id '1': "),
        ({"id": [1], "result": {}}, "it responded to no request, by the id [1]: "),
        ({"id": 1}, "it responded without result, error, unsupported: "),
        ({"id": 1, "result": None}, "it responded without result, error, "),
        ({"id": 1, "result": []}, "its result is not an object: "),
        ({"id": 1, "error": "no"}, "its error is not an object: "),
        ({"id": 1, "result": {}, "error": {}}, "it responded with result and error: "),
    ],
)
def test_a_wrong_response_is_the_reason_at_once(
    response: dict[str, object], reason: str
) -> None:
    line = json.dumps(response)
    with (
        closing(adapter_of(RESPONDS, line)) as adapter,
        pytest.raises(AdapterError) as error,
    ):
        adapter.call("send").wait(ENDS_WITHIN_S)
    assert str(error.value).startswith(reason)
    assert line in str(error.value)


@pytest.mark.parametrize(
    "response",
    [
        {"result": {}},
        {"result": {}, "error": None},
        {"result": None, "error": {"kind": "client"}},
        {"unsupported": "no batches"},
        {"unsupported": None},
    ],
)
def test_a_member_without_a_value_is_no_fault(response: dict[str, object]) -> None:
    assert response_error("send", response) == ""


def test_a_message_has_its_consumer() -> None:
    message = {"event": "message", "consumer": "c1", "message": {}}
    assert event_error(message) == ""
    assert event_error({"event": "local", "producer": "p1"}) == ""
    assert event_error({**message, "message": None}) == (
        "its event has no object 'message'"
    )
    del message["consumer"]
    assert event_error(message) == "its event lacks 'consumer'"


def test_a_program_that_an_adapter_leaves_does_not_delay_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_adapter, "ENDING_S", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    adapter = adapter_of(LEAVES, str(pipe))
    with pipe.open("w"):  # the program that is left reads it until its end
        adapter.wait_until(
            lambda: bool(adapter.events), what="an event", timeout_s=ENDS_WITHIN_S
        )
        end = Thread(target=adapter.close, daemon=True)
        end.start()
        end.join(ENDS_WITHIN_S / 6)
        has_ended = not end.is_alive()
    assert has_ended

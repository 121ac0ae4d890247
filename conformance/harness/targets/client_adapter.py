"""
Adapter: a program around a client under test, driven by lines of JSON.

``docs/client_adapter.md`` describes the protocol for its authors. This is the suite's
end: it starts the program, sends requests, and records results and events.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.harness.client.secrets import SECRETS
from conformance.harness.process.process import (
    Child,
    ProcessError,
    launched,
    require_program,
    track,
)
from conformance.harness.process.spawn_thread import run_on_spawn_thread
from conformance.harness.targets.client_lines import event_error, response_error

Line = dict[str, Any]
PROTOCOL = 1
RESPONSE_TIMEOUT_S = 180.0
HELLO_TIMEOUT_S = 180.0
"""A Java client on a busy machine takes long to start."""
FIRST_HELLO_TIMEOUT_S = 30.0
"""For the first adapter of a run, which starts alone."""
FIRST_HELLO_VARIABLE = "RMQC_HELLO_TIMEOUT_S"
"""Environment variable with another timeout of the first hello."""
_ERROR = re.compile(r"(?:Exception in thread .* )?[\w.]*(?:Error|Exception)\b")
"""Begin of a line of standard error with the reason of an end."""
ENDING_S = 5.0
"""Time in which a program ends that has closed its input."""


class AdapterError(ProcessError):
    """The adapter, not the client, is broken: no verdict about any clause."""


class ResponseFuture:
    """A request whose response may not have come yet."""

    def __init__(self, adapter: Adapter, request: Line) -> None:
        self.request = request
        self.adapter = adapter

    @property
    def response(self) -> Line | None:
        """Response to the request; None before it has come."""
        return self.adapter.responses.get(self.request["id"])

    @property
    def is_done(self) -> bool:
        """Whether the response has come."""
        return self.response is not None

    def wait(self, timeout_s: float = RESPONSE_TIMEOUT_S) -> Line:
        """Return the response when it comes."""
        what = f"its response to {self.request['verb']}"
        try:
            self.adapter.wait_until(
                lambda: self.is_done, what=what, timeout_s=timeout_s
            )
        except AdapterError as error:
            self.adapter.unanswered += self.adapter.running
            request = SECRETS.hide_in(json.dumps(self.request))
            raise AdapterError(f"{error}\nrequest: {request}") from None
        self.adapter.unanswered = 0
        assert self.response is not None
        return self.response


class Adapter:
    """A running adapter."""

    def __init__(self, command: str, *, directory: Path | None = None) -> None:
        self.command = command
        self.responses: dict[int, Line] = {}
        self.responded_at_ms: dict[int, int] = {}
        """Arrival of each response, on a clock that only goes forward."""
        self.events: list[Line] = []
        self.fault = ""
        """Violation of the protocol by the adapter."""
        self.unanswered = 0
        """Requests other than hello that it left unanswered since its last response."""
        self._numbers = itertools.count(1)
        self._verbs: dict[int, str] = {}
        """Verbs of all requests by id."""
        self._changed = threading.Condition()
        words = self._words()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the program
        self._child, self._process = self._start(words, directory)
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    @property
    def running(self) -> bool:
        """Whether the adapter accepts requests."""
        return self._process.poll() is None and not self.fault

    def call(self, verb: str, **fields: object) -> ResponseFuture:
        """Write a line, and return the future of its response."""
        line: Line = {"id": next(self._numbers), "verb": verb, **fields}
        assert self._process.stdin is not None
        self._verbs[line["id"]] = verb
        try:
            self._process.stdin.write(json.dumps(line).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            self._reading.join(ENDING_S)
            reason = self._state(f"it reads no line: {error}")
            raise AdapterError(f"{reason}\nrequest: {verb}") from error
        return ResponseFuture(self, line)

    def hello(self, timeout_s: float = HELLO_TIMEOUT_S) -> Any:
        """Return the adapter's description of itself and its client, unchecked.

        The error is one line with the output of an adapter that sends none.
        """
        try:
            pending = self.call("hello", protocol=PROTOCOL)
        except AdapterError:  # it ends, and reads no line
            self._reading.join(ENDING_S)
            raise AdapterError(self._output_without_hello(timeout_s)) from None
        self._wait(lambda: pending.is_done, timeout_s)
        if (response := pending.response) is None:
            raise AdapterError(self._output_without_hello(timeout_s))
        if "result" not in response:
            raise AdapterError(f"its response is {response}")
        return response["result"]

    def wait_until(
        self, condition: Callable[[], bool], *, what: str, timeout_s: float
    ) -> None:
        """Return when *condition* holds, which a line from the adapter makes true."""
        self._wait(condition, timeout_s)
        if not condition():
            silent = f"the adapter is running, but {what} did not come"
            reason = self._state(f"{silent} within {timeout_s:g} s", f" before {what}")
            raise AdapterError(f"{reason}\n{self.log()}".rstrip())

    def _wait(self, condition: Callable[[], bool], timeout_s: float) -> None:
        """Wait until *condition* holds or the adapter has ended."""
        with self._changed:
            self._changed.wait_for(lambda: condition() or not self.running, timeout_s)

    def _output_without_hello(self, timeout_s: float) -> str:
        """Return in one line the output of the program, or its end."""
        if self.events:
            silent = f"it wrote events, but no response within {timeout_s:g} s"
        else:
            silent = f"it wrote no line within {timeout_s:g} s (is its output flushed?)"
        return self._state(silent)

    def _state(self, silent: str, when: str = "") -> str:
        """Return in one line the fault or the end of the program, else *silent*.

        *when* follows an exit status. The last error of standard error is added.
        """
        status = self._process.poll()
        how = silent if status is None else f"it ended with exit status {status}{when}"
        lines = self.log().strip().splitlines()
        # Node writes its release behind an error and its stack, Java only the stack.
        errors = [line for line in lines if _ERROR.match(line)]
        last = f"ends with {lines[-1]!r}" if lines else "is empty"
        has = f"has {errors[-1]!r}" if errors else last
        return f"{self.fault or how}; its standard error {has}"

    def log(self) -> str:
        """Return the end of what it wrote to standard error."""
        self._log.seek(0)
        return self._log.read()[-4000:].decode("utf-8", "replace")

    def close(self) -> None:
        """End the program; closing twice is harmless."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except OSError:
                self.fault = self.fault or "it ended"
        self._child.terminate(grace_s=1.0)
        self._reading.join(ENDING_S)
        self._log.close()

    def _start(
        self, words: list[str], directory: Path | None
    ) -> tuple[Child, subprocess.Popen[bytes]]:
        """Return the started program, as a child and with its streams."""

        def opened() -> subprocess.Popen[bytes]:
            require_program(words[0], directory)
            return subprocess.Popen(
                launched(words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                cwd=directory,
                start_new_session=True,
            )

        try:
            process = run_on_spawn_thread(opened)
        except (OSError, IndexError) as error:
            self._log.close()
            raise AdapterError(f"cannot start {self.command!r}: {error}") from None
        name = "adapter"
        child = Child(name=name, process=process, log=Path(name), command=tuple(words))
        return track(child), process

    def _words(self) -> list[str]:
        """Return the command's words, as a shell splits them."""
        try:
            return shlex.split(self.command)
        except ValueError as error:
            raise AdapterError(f"cannot start {self.command!r}: {error}") from None

    def _read(self) -> None:
        # This thread closes the output, since a program that the adapter left may keep
        # it open. Another thread would then wait in its close.
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                with self._changed:
                    self._record(line)
                    self._changed.notify_all()
        self._process.wait()
        with self._changed:
            self._changed.notify_all()

    def _record(self, data: bytes) -> None:
        """Record the content of a line."""
        try:
            line = json.loads(data)
        except ValueError:
            self._break("it wrote what is no line", data)
            return
        if not isinstance(line, dict) or not {"event", "id"} & line.keys():
            self._break("it wrote no object with event or id", data)
        elif "event" in line:
            self._record_event(line, data)
        else:
            self._record_response(line, data)

    def _record_event(self, event: Line, data: bytes) -> None:
        """Record an event; a wrong one is a fault."""
        if reason := event_error(event):
            self._break(reason, data)
        else:
            self.events.append(event)

    def _record_response(self, response: Line, data: bytes) -> None:
        """Record the response to a request; a wrong one is a fault."""
        number = response["id"]
        verb = self._verbs.get(number) if isinstance(number, int) else None
        if verb is None:
            self._break(f"it responded to no request, by the id {number!r}", data)
        elif number in self.responses:
            self._break("it responded twice", data)
        elif reason := response_error(verb, response):
            self._break(reason, data)
        else:
            self.responded_at_ms[number] = round(time.monotonic() * 1000)
            self.responses[number] = response

    def _break(self, reason: str, data: bytes) -> None:
        """Record the first violation of the protocol, with the begin of its line."""
        self.fault = self.fault or f"{reason}: {data[:200]!r}"

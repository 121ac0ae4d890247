"""
An adapter of your client, to be filled in: how ``rmqc test-client`` drives it.

    rmqc client template > adapter.py
    rmqc test-client --adapter 'python3 adapter.py' --only 'CLIENT-SENDRESULT-*'

docs/client_adapter.md has all verbs, fields and results. A verb that raises
`UnsupportedError` is counted separately, and is never a failure.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TextIO

Line = dict[str, Any]
Emit = Callable[[Line], None]

ABOUT: Line = {
    "adapter": "template",
    "client": "my client 0.1",
    # The Apache release that the client implements: clauses about others do not apply.
    "release": "4.6.0",
    # Its language code on the wire.
    "language": "PYTHON",
    # Its features, such as "sync", "async", "oneway", "batch", "transaction", "push".
    "features": [],
}


class UnsupportedError(Exception):
    """The client lacks the feature."""


class ClientError(Exception):
    """The client refused or failed: kind, response code, text."""

    def __init__(self, kind: str, code: int | None, text: str) -> None:
        super().__init__(text)
        self.kind = kind
        """One of broker, timeout, connect and client."""
        self.code = code


class Adapter:
    """The verbs: each takes the line of a request, and returns its result."""

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
        """Function that writes an event, such as a received message."""
        self.clients: Line = {}
        """Producers and consumers by name."""

    def hello(self, _line: Line) -> Line:
        """Describe the client."""
        return ABOUT

    def producer(self, _line: Line) -> Line:
        """Start the producer ``name`` of ``group`` with ``namesrv`` and ``options``."""
        raise UnsupportedError("no producer yet")

    def send(self, _line: Line) -> Line:
        """Send ``message`` with the producer ``producer``; return the send result.

        Raise ``ClientError("broker", 1, "...")`` for an error response with code 1.
        """
        raise UnsupportedError("no send yet")

    def consumer(self, _line: Line) -> Line:
        """Start a consumer; emit ``{"event": "message", ...}`` for each message."""
        raise UnsupportedError("no consumer yet")

    def stop(self, line: Line) -> Line:
        """Shut down the producer or consumer ``name``."""
        self.clients.pop(line["name"]).shutdown()
        return {}

    def response(self, line: Line) -> Line:
        """Return the response to the request in *line*."""
        verb = getattr(self, str(line["verb"]), None)
        try:
            if verb is None:
                raise UnsupportedError(f"no {line['verb']}")
            return {"id": line["id"], "result": verb(line)}
        except UnsupportedError as error:
            return {"id": line["id"], "unsupported": str(error)}
        except ClientError as error:
            found = {"kind": error.kind, "code": error.code, "text": str(error)}
            return {"id": line["id"], "error": found}
        except Exception as error:
            found = {"kind": "adapter", "code": None, "text": repr(error)}
            return {"id": line["id"], "error": found}


def writer_to(stream: TextIO) -> Emit:
    """Return a function that writes a line to *stream*; threads may share it."""
    writing = Lock()

    def emit(line: Line) -> None:
        with writing:
            stream.write(json.dumps(line) + "\n")
            stream.flush()

    return emit


def read_requests(respond: Emit, respond_first: Emit) -> None:
    """Respond to requests until the end of input; each lane has a thread.

    *respond_first* has those that no lane may delay.
    """

    def perform(requests: SimpleQueue[Line]) -> None:
        while True:
            respond(requests.get())

    def lane() -> SimpleQueue[Line]:
        requests: SimpleQueue[Line] = SimpleQueue()
        Thread(target=perform, args=(requests,), daemon=True).start()
        return requests

    lanes: defaultdict[str, SimpleQueue[Line]] = defaultdict(lane)
    for text in sys.stdin:
        line = json.loads(text)
        if line["verb"] == "bye":
            return
        if line["verb"] in {"hello", "release", "stop"}:
            respond_first(line)
        else:
            lanes[line.get("lane", "0")].put(line)


def main() -> None:
    """Run the adapter."""
    emit = writer_to(sys.stdout)
    adapter = Adapter(emit)

    def respond(line: Line) -> None:
        emit(adapter.response(line))

    read_requests(respond, respond)


if __name__ == "__main__":
    main()

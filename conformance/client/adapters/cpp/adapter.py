"""
The verbs of the adapter, by the package ``rocketmq`` and the library in it.

Unsupported are transactions, request and reply, lite pull consumers, offsets and
commits of pull consumers, SQL92 and the options that the client does not have.
"""

from __future__ import annotations

from collections.abc import Callable

from rocketmq.ffi import dll

from conformance.client.adapters.cpp.consumers import (
    StartedPullConsumer,
    StartedPushConsumer,
)
from conformance.client.adapters.cpp.installed import PACKAGE
from conformance.client.adapters.cpp.producer import StartedProducer
from conformance.client.adapters.template import (
    ClientError,
    Line,
    UnsupportedError,
)

ABOUT: Line = {
    "adapter": "cpp",
    "client": f"librocketmq of {PACKAGE}",
    "release": "4.6.0",
    "language": "CPP",
    "features": [
        *("sync", "async", "oneway", "batch", "select", "lanes"),
        *("push", "orderly", "broadcast", "pull", "queues", "acl"),
    ],
    "intervals": {
        "rebalance_ms": 10_000,
        "heartbeat_ms": 30_000,
        "route_poll_ms": 30_000,
        "persist_ms": 5000,
    },
}


class Adapter:
    """Started clients by name, and the verbs."""

    def __init__(self, emit: Callable[[Line], None]) -> None:
        self._emit = emit
        self._producers: dict[str, StartedProducer] = {}
        self._pushed: dict[str, StartedPushConsumer] = {}
        self._pulling: dict[str, StartedPullConsumer] = {}

    def respond(self, line: Line) -> None:
        """Write the response to the request in *line*, unless a callback does."""
        try:
            result = self._result(line)
            if result is None:
                return
            response: Line = {"result": result}
        except UnsupportedError as error:
            response = {"unsupported": str(error)}
        except ClientError as error:
            found = {"kind": error.kind, "code": error.code, "text": str(error)}
            response = {"error": found}
        except Exception as error:
            found = {"kind": "adapter", "code": None, "text": repr(error)}
            response = {"error": found}
        self._emit({"id": line["id"], **response})

    def _result(self, line: Line) -> Line | None:
        match line["verb"]:
            case "hello":
                return ABOUT
            case "producer":
                self._producers[line["name"]] = StartedProducer(line)
            case "send":
                return self._producers[line["producer"]].send(line, self._emit)
            case "consumer":
                self._start_consumer(line)
            case "release":
                self._pushed[line["consumer"]].release(line["keys"])
            case "queues" if "consumer" in line:
                return self._pulling[line["consumer"]].queues(line)
            case "pull":
                return self._pulling[line["consumer"]].pull(line)
            case "stop":
                name = line["name"]
                clients = self._producers | self._pushed | self._pulling
                clients[name].stop()
            case verb:
                raise UnsupportedError(f"verb {verb}")
        return {}

    def _start_consumer(self, line: Line) -> None:
        match line["kind"]:
            case "push":
                # Messages may come before the start returns.
                consumer = StartedPushConsumer(line, self._emit)
                self._pushed[line["name"]] = consumer
            case "pull":
                self._pulling[line["name"]] = StartedPullConsumer(line)
            case kind:
                raise UnsupportedError(f"kind {kind}")


def keep_quiet() -> None:
    """Let the library log errors alone, into the home directory."""
    error_level = 2
    handle = dll.CreateProducer(b"logging")
    dll.SetProducerLogLevel(handle, error_level)

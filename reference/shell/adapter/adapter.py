"""
The adapter of the reference client (docs/client_adapter.md).

Commands come as lines of JSON on standard input; results and events go to standard
output. Run it with ``python -m reference.shell.adapter.adapter``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from reference.core.client.remoting.errors import ClientError, Reason
from reference.shell.adapter.common import (
    LOCK_LIVES_MS,
    LOCK_MS,
    Line,
    UnsupportedError,
)
from reference.shell.adapter.producer import AdaptedProducer
from reference.shell.adapter.pull_consumers import (
    AdaptedLiteConsumer,
    AdaptedPullConsumer,
)
from reference.shell.adapter.push_consumer import AdaptedConsumer
from spec.client.allocation import REBALANCE_PERIOD_MS

LINE_SIZE_MAX = 1 << 26
"""Bytes of a line, for a body above 4 MiB in base64."""
ABOUT = {
    "adapter": "reference",
    "client": "reference",
    "release": "4.6.0",
    "language": "OTHER",
    "features": [
        *("sync", "async", "oneway", "batch", "select", "transaction", "lanes"),
        *("request", "reply", "latency", "vip"),
        *("push", "orderly", "broadcast", "pull", "lite"),
    ],
    "intervals": {
        "rebalance_ms": REBALANCE_PERIOD_MS,
        "lock_ms": LOCK_MS,
        "lock_lives_ms": LOCK_LIVES_MS,
    },
}
PULL_VERBS = frozenset(
    {"queues", "pull", "offset", "commit"}
    | {"assign", "poll", "seek", "pause", "resume"}  # of lite pull consumers
)
KINDS = {
    Reason.REFUSED: "broker",
    Reason.TIMEOUT: "timeout",
    Reason.CALL_TIMEOUT: "timeout",
    Reason.NO_REPLY: "timeout",
    Reason.CONNECT: "connect",
    Reason.LOST: "connect",
}
_Consumer = AdaptedConsumer | AdaptedPullConsumer | AdaptedLiteConsumer


class Adapter:
    """Runs commands; those of one lane run in order."""

    def __init__(self, emit: Callable[[Line], None], offset_folder: Path) -> None:
        self._emit = emit
        self._offset_folder = offset_folder
        self._lanes: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._clients: dict[str, AdaptedProducer | _Consumer] = {}
        self._verbs: dict[str, Callable[[Line], Awaitable[Line]]] = {
            "hello": self._hello,
            "producer": self._producer,
            "consumer": self._consumer,
            "release": self._release,
            "stop": self._stop,
        }

    async def run(self, command: Line) -> None:
        """Run one command and write its result."""
        response: Line = {"id": command["id"]}
        try:
            response["result"] = await self._do(command)
        except UnsupportedError as error:
            response["unsupported"] = str(error)
        except ClientError as error:
            kind = KINDS.get(error.failure.reason, "client")
            error_line = {"kind": kind, "code": error.failure.code, "text": str(error)}
            response["error"] = error_line
        except Exception as error:  # a defect of the adapter, not of the client
            text = f"{type(error).__name__}: {error}"
            response["error"] = {"kind": "adapter", "code": None, "text": text}
        self._emit(response)

    async def _do(self, command: Line) -> Line:
        verb = command["verb"]
        if verb in ("hello", "release", "stop"):
            return await self._verbs[verb](command)
        lane = self._lanes[command.get("lane", "0")]
        async with lane:
            if verb in self._verbs:
                return await self._verbs[verb](command)
            if verb in PULL_VERBS:
                return await self._run_pull_verb(command)
            if verb not in ("send", "request", "reply"):
                raise UnsupportedError(f"no verb {verb}")
            producer = self._clients[command["producer"]]
            assert isinstance(producer, AdaptedProducer)
            if verb == "request":
                return await producer.request(command)
            if verb == "reply":
                return await producer.reply(command)
            sending = asyncio.ensure_future(producer.send(command))
            if command["mode"] == "async":
                await asyncio.sleep(0)  # the send has begun
            else:
                await asyncio.wait([sending])
        return await sending

    async def _hello(self, _command: Line) -> Line:
        return ABOUT

    async def _producer(self, command: Line) -> Line:
        made = AdaptedProducer(command, self._emit)
        await made.start()
        self._clients[command["name"]] = made
        return {}

    async def _run_pull_verb(self, command: Line) -> Line:
        consumer = self._clients.get(command.get("consumer", ""))
        if not isinstance(consumer, AdaptedPullConsumer | AdaptedLiteConsumer):
            raise UnsupportedError("only pull consumers have queues and offsets")
        if command["verb"] not in consumer.verbs:
            raise UnsupportedError(f"no {command['verb']} of such a consumer")
        return await consumer.verbs[command["verb"]](command)

    async def _consumer(self, command: Line) -> Line:
        made: _Consumer
        if command["kind"] == "pull":
            made = AdaptedPullConsumer(command)
        elif command["kind"] == "lite":
            made = AdaptedLiteConsumer(command, self._offset_folder)
        else:
            made = AdaptedConsumer(command, self._emit, self._offset_folder)
        await made.start()
        self._clients[command["name"]] = made
        return {}

    async def _release(self, command: Line) -> Line:
        consumer = self._clients[command["consumer"]]
        assert isinstance(consumer, AdaptedConsumer)
        consumer.release(command["keys"])
        return {}

    async def _stop(self, command: Line) -> Line:
        await self._clients[command["name"]].stop()
        return {}


def emit(line: Line) -> None:
    """Write a line to standard output."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def run(offset_folder: Path) -> None:
    """Run the commands of standard input until its end or ``bye``."""
    pull_loop = asyncio.StreamReader(limit=LINE_SIZE_MAX)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(pull_loop), sys.stdin
    )
    adapter = Adapter(emit, offset_folder)
    under_way: set[asyncio.Task[None]] = set()
    while line := await pull_loop.readline():
        command = json.loads(line)
        if command["verb"] == "bye":
            return
        task = asyncio.create_task(adapter.run(command))
        under_way.add(task)
        task.add_done_callback(under_way.discard)


if __name__ == "__main__":
    with TemporaryDirectory(prefix="reference-client-") as folder:
        asyncio.run(run(Path(folder)))

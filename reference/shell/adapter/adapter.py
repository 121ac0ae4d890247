"""
The adapter of the reference client (docs/client_adapter.md).

Commands come as lines of JSON on standard input; results and events go to standard
output. Run it with ``python -m reference.shell.adapter.adapter``.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from reference.core.client.remoting.errors import ClientError, Reason
from reference.core.unexpected import error_text
from reference.shell.adapter.common import (
    LOCK_LIVES_MS,
    LOCK_MS,
    AdaptedClient,
    Emit,
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
        *("push", "orderly", "broadcast", "pull", "lite", "acl", "tls"),
    ],
    "intervals": {
        "rebalance_ms": REBALANCE_PERIOD_MS,
        "lock_ms": LOCK_MS,
        "lock_lives_ms": LOCK_LIVES_MS,
    },
}
WITHOUT_LANE = frozenset({"hello", "release", "stop"})
KINDS = {
    Reason.REFUSED: "broker",
    Reason.TIMEOUT: "timeout",
    Reason.CALL_TIMEOUT: "timeout",
    Reason.NO_REPLY: "timeout",
    Reason.CONNECT: "connect",
    Reason.LOST: "connect",
}


class Adapter:
    """Runs commands; those of one lane run in order."""

    def __init__(self, emit: Emit, offset_folder: Path) -> None:
        self._emit = emit
        self._offset_folder = offset_folder
        self._lanes: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._clients: dict[str, AdaptedClient] = {}

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
            text = error_text(error)
            response["error"] = {"kind": "adapter", "code": None, "text": text}
        self._emit(response)

    async def _do(self, command: Line) -> Line:
        """Run a command in its lane, where an asynchronous send only begins."""
        if command["verb"] in WITHOUT_LANE:
            return await self._run(command)
        async with self._lanes[command.get("lane", "0")]:
            running = asyncio.ensure_future(self._run(command))
            if command.get("mode") == "async":
                await asyncio.sleep(0)  # the send has begun
            else:
                await asyncio.wait([running])
        return await running

    async def _run(self, command: Line) -> Line:
        match command["verb"]:
            case "hello":
                return ABOUT
            case "producer" | "consumer":
                client = self._client(command)
                await client.start()
                self._clients[command["name"]] = client
                return {}
            case "stop":
                await self._clients[command["name"]].stop()
                return {}
            case _:
                name = command.get("producer") or command.get("consumer")
                if name not in self._clients:
                    raise UnsupportedError(f"no {command['verb']} of {name}")
                return await self._clients[name].run(command)

    def _client(self, command: Line) -> AdaptedClient:
        if command["verb"] == "producer":
            return AdaptedProducer(command, self._emit)
        if command["kind"] == "pull":
            return AdaptedPullConsumer(command, self._emit)
        kind = AdaptedLiteConsumer if command["kind"] == "lite" else AdaptedConsumer
        return kind(command, self._emit, self._offset_folder)


def emit(line: Line) -> None:
    """Write a line to standard output."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def run(offset_folder: Path) -> None:
    """Run the commands of standard input until its end or ``bye``."""
    commands = asyncio.StreamReader(limit=LINE_SIZE_MAX)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), sys.stdin
    )
    adapter = Adapter(emit, offset_folder)
    under_way: set[asyncio.Task[None]] = set()
    while line := await commands.readline():
        command = json.loads(line)
        if command["verb"] == "bye":
            return
        task = asyncio.create_task(adapter.run(command))
        under_way.add(task)
        task.add_done_callback(under_way.discard)


def main() -> None:
    """Run until the end of standard input, or SIGTERM, and leave no folder behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with TemporaryDirectory(prefix="reference-client-") as folder:
        asyncio.run(run(Path(folder)))


if __name__ == "__main__":
    main()

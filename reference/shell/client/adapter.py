"""
The reference client under test: an adapter, as docs/client_adapter.md describes it.

Lines of JSON come in and say what the application does; lines go out and say what the
client answered it. ``python -m reference.shell.client.adapter`` runs it on standard
input and output.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from reference.core.client.failure import ClientError, Reason
from reference.shell.client.adapted import LOCK_LIVES_MS, LOCK_MS, UnsupportedError
from reference.shell.client.adapted_consumer import AdaptedConsumer
from reference.shell.client.adapted_poller import AdaptedPoller
from reference.shell.client.adapted_producer import AdaptedProducer
from reference.shell.client.adapted_puller import AdaptedPuller
from spec.client.allocation import REBALANCE_PERIOD_MS

Line = dict[str, Any]
LINE_SIZE_MAX = 1 << 26
"""Bytes of a line: a body of 4 MiB and more, in base64."""
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
POLLING = frozenset({"assign", "poll", "seek", "pause", "resume"})
PULLING = frozenset({"queues", "pull", "offset", "commit"}) | POLLING
"""The verbs of pull consumers; those of polling are of lite ones alone."""
KINDS = {
    Reason.REFUSED: "broker",
    Reason.TIMEOUT: "timeout",
    Reason.CALL_TIMEOUT: "timeout",
    Reason.NO_REPLY: "timeout",
    Reason.CONNECT: "connect",
    Reason.LOST: "connect",
}
_Consumer = AdaptedConsumer | AdaptedPuller | AdaptedPoller


class Adapter:
    """Does what lines ask, those of one lane in their order."""

    def __init__(self, tell: Callable[[Line], None], offset_folder: Path) -> None:
        self._tell = tell
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

    async def perform(self, asked: Line) -> None:
        """Do what one line asks, and answer it."""
        answer: Line = {"id": asked["id"]}
        try:
            answer["result"] = await self._do(asked)
        except UnsupportedError as error:
            answer["unsupported"] = str(error)
        except ClientError as error:
            kind = KINDS.get(error.failure.reason, "client")
            told = {"kind": kind, "code": error.failure.code, "text": str(error)}
            answer["error"] = told
        except Exception as error:  # whatever is wrong in here is not the client's
            text = f"{type(error).__name__}: {error}"
            answer["error"] = {"kind": "adapter", "code": None, "text": text}
        self._tell(answer)

    async def _do(self, asked: Line) -> Line:
        verb = asked["verb"]
        if verb in ("hello", "release", "stop"):
            return await self._verbs[verb](asked)
        lane = self._lanes[asked.get("lane", "0")]
        async with lane:
            if verb in self._verbs:
                return await self._verbs[verb](asked)
            if verb in PULLING:
                return await self._ask_puller(asked)
            if verb not in ("send", "request", "reply"):
                raise UnsupportedError(f"no verb {verb}")
            producer = self._clients[asked["producer"]]
            assert isinstance(producer, AdaptedProducer)
            if verb == "request":
                return await producer.request(asked)
            if verb == "reply":
                return await producer.reply(asked)
            sending = asyncio.ensure_future(producer.send(asked))
            if asked["mode"] == "async":
                await asyncio.sleep(0)  # it is begun; the caller goes on
            else:
                await asyncio.wait([sending])
        return await sending

    async def _hello(self, _asked: Line) -> Line:
        return ABOUT

    async def _producer(self, asked: Line) -> Line:
        made = AdaptedProducer(asked, self._tell)
        await made.start()
        self._clients[asked["name"]] = made
        return {}

    async def _ask_puller(self, asked: Line) -> Line:
        puller = self._clients.get(asked.get("consumer", ""))
        if not isinstance(puller, AdaptedPuller | AdaptedPoller):
            raise UnsupportedError("only pull consumers tell queues and offsets")
        if asked["verb"] not in puller.verbs:
            raise UnsupportedError(f"no {asked['verb']} of such a consumer")
        return await puller.verbs[asked["verb"]](asked)

    async def _consumer(self, asked: Line) -> Line:
        made: _Consumer
        if asked["kind"] == "pull":
            made = AdaptedPuller(asked)
        elif asked["kind"] == "lite":
            made = AdaptedPoller(asked, self._offset_folder)
        else:
            made = AdaptedConsumer(asked, self._tell, self._offset_folder)
        await made.start()
        self._clients[asked["name"]] = made
        return {}

    async def _release(self, asked: Line) -> Line:
        consumer = self._clients[asked["consumer"]]
        assert isinstance(consumer, AdaptedConsumer)
        consumer.release(asked["keys"])
        return {}

    async def _stop(self, asked: Line) -> Line:
        await self._clients[asked["name"]].stop()
        return {}


def tell(line: Line) -> None:
    """Write a line to standard output."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def run(offset_folder: Path) -> None:
    """Do what standard input asks, until it ends or says bye."""
    reader = asyncio.StreamReader(limit=LINE_SIZE_MAX)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    adapter = Adapter(tell, offset_folder)
    under_way: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        asked = json.loads(line)
        if asked["verb"] == "bye":
            return
        task = asyncio.create_task(adapter.perform(asked))
        under_way.add(task)
        task.add_done_callback(under_way.discard)


if __name__ == "__main__":
    with TemporaryDirectory(prefix="reference-client-") as folder:
        asyncio.run(run(Path(folder)))

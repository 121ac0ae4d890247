"""The reference push consumer under test, with a listener that fails on command."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reference.core.client.effects import DeliverMessages
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.process_queue import PullThresholds
from reference.core.client.rebalance.strategies import (
    AllocateStrategy,
    allocate_message_queue_averagely,
    allocate_message_queue_averagely_by_circle,
    allocate_message_queue_by_config,
    allocate_message_queue_by_machine_room,
    allocate_message_queue_consistent_hash,
)
from reference.shell.adapter.common import (
    AdaptedClient,
    Emit,
    Line,
    UnsupportedError,
    line_of,
    options_of,
    queue_of,
    tls_of,
)
from reference.shell.client.consumers import ConsumerClient
from reference.shell.loop_host import Tasks
from spec.wire.bodies.heartbeat import TAG
from spec.wire.message.properties import Property

OPTIONS = {"pull_batch": "batch_size", "max_reconsume": "retries_max"}
THRESHOLDS = {
    "threshold_count": "count",
    "threshold_mib": "mib",
    "topic_threshold_count": "topic_count",
}
ALLOCATION = ("allocation", "rooms", "own_queues")
STRATEGIES = {
    "AVG": allocate_message_queue_averagely,
    "AVG_BY_CIRCLE": allocate_message_queue_averagely_by_circle,
    "CONSISTENT_HASH": allocate_message_queue_consistent_hash,
}
SUCCESS, LATER, FAIL, HOLD = "success", "later", "fail", "hold"
FAILURES = frozenset({LATER, FAIL})


class AdaptedConsumer(AdaptedClient):
    """A push consumer with outcomes for its messages, by their keys."""

    def __init__(self, command: Line, emit: Emit, offset_folder: Path) -> None:
        outcomes = command.get("outcomes", {}).items()
        self._outcomes = {keys: list(words) for keys, words in outcomes}
        self._released: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._tasks = Tasks()
        self._client = ConsumerClient(
            command["namesrv"],
            _options(command),
            offset_folder=offset_folder,
            tls=tls_of(command),
        )
        super().__init__(command, self._client, emit)

    async def start(self) -> None:
        """Join the group and listen."""
        await super().start()
        self._tasks.run(self._listen())

    async def stop(self) -> None:
        """Leave the group."""
        await super().stop()
        self._tasks.cancel()

    async def run(self, command: Line) -> Line:
        """End the listener's call that holds the message of the command's keys."""
        if command["verb"] != "release":
            return await super().run(command)
        self._released[command["keys"]].set()
        return {}

    async def _listen(self) -> None:
        while True:
            self._tasks.run(self._consume(await self._client.take()))

    async def _consume(self, delivery: DeliverMessages) -> None:
        (message,) = delivery.messages
        word = await self._outcome(message)
        failed = (message,) if word in FAILURES else ()
        error = "RuntimeError: failed on command" if word == FAIL else None
        self._client.process_consume_result(delivery, failed, error=error)

    async def _outcome(self, message: MessageExt) -> str:
        """Report *message*, and return the listener's outcome."""
        line = line_of(message)
        self._emit({"event": "message", "consumer": self._name, "message": line})
        keys = message.properties.get(Property.KEYS, "")
        words = self._outcomes.get(keys)
        word: str = words.pop(0) if words else SUCCESS
        if word == HOLD:
            await self._released[keys].wait()
        return word


def _options(command: Line) -> ConsumerOptions:
    if command["kind"] != "push" or len(command["subscriptions"]) != 1:
        raise UnsupportedError("only a push consumer of one topic")
    given = command.get("options", {})
    thresholds = {
        name: given[word] for word, name in THRESHOLDS.items() if word in given
    }
    (subscription,) = command["subscriptions"]
    return ConsumerOptions(
        topic=subscription["topic"],
        expression=subscription.get("expression", "*"),
        expression_type=subscription.get("type", TAG),
        from_first=command.get("from") == "first",
        broadcasts=command.get("model") == "broadcasting",
        is_orderly=command.get("order") == "orderly",
        thresholds=PullThresholds(**thresholds),
        allocate_strategy=_allocate_strategy(given),
        **options_of(command, OPTIONS, *THRESHOLDS, *ALLOCATION),
    )


def _allocate_strategy(given: Mapping[str, Any]) -> AllocateStrategy:
    name = given.get("allocation", "AVG")
    if name == "MACHINE_ROOM":
        return allocate_message_queue_by_machine_room(given["rooms"])
    if name == "CONFIG":
        queues = [queue_of(one) for one in given["own_queues"]]
        return allocate_message_queue_by_config(queues)
    if name not in STRATEGIES:
        raise UnsupportedError(f"no allocate strategy {name}")
    return STRATEGIES[name]

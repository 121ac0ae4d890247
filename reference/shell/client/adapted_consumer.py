"""The reference consumer under test: a listener that answers as lines told it to."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from reference.core.client.allocation import (
    Allocation,
    averaged,
    by_circle,
    by_config,
    by_consistent_hash,
    by_machine_room,
)
from reference.core.client.asking import Deliver
from reference.core.client.backlog import Limits
from reference.core.client.consumer import ConsumerOptions
from reference.core.client.message import Queue
from reference.core.client.pulling import Received
from reference.core.client.subscription import TAGS
from reference.shell.client.adapted import (
    UnsupportedError,
    line_of,
    own_id,
    split_options,
)
from reference.shell.client.consumer import ConsumerClient
from spec.wire.properties import Property

OPTIONS = {
    "pull_batch": "batch_size",
    "max_reconsume": "retries_max",
}
LIMITS = {
    "threshold_count": "count",
    "threshold_mib": "mib",
    "topic_threshold_count": "topic_count",
}
RULES = {
    "AVG": averaged,
    "AVG_BY_CIRCLE": by_circle,
    "CONSISTENT_HASH": by_consistent_hash(),
}
SUCCESS, LATER, FAIL, HOLD = "success", "later", "fail", "hold"
FAILURES = frozenset({LATER, FAIL})


class AdaptedConsumer:
    """A push consumer, whose messages meet the outcomes that they were promised."""

    def __init__(
        self,
        asked: dict[str, Any],
        tell: Callable[[dict[str, Any]], None],
        offset_folder: Path,
    ) -> None:
        self._name = asked["name"]
        self._tell = tell
        self._outcomes = {
            keys: list(words) for keys, words in asked.get("outcomes", {}).items()
        }
        self._released: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._tasks: set[asyncio.Task[None]] = set()
        self._options = _options(asked)
        self._client = ConsumerClient(
            asked["namesrv"], self._options, offset_folder=offset_folder
        )

    async def start(self) -> None:
        """Join the group and listen."""
        await self._client.__aenter__()
        self._do(self._listen())

    async def stop(self) -> None:
        """Leave the group."""
        await self._client.__aexit__()
        for task in self._tasks:
            task.cancel()

    def release(self, keys: str) -> None:
        """Let the listener end that holds the message of these keys."""
        self._released[keys].set()

    def _do(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self) -> None:
        while True:
            delivery = await self._client.take()
            for message in delivery.messages:
                self._do(self._handle(replace(delivery, messages=(message,))))

    async def _handle(self, delivery: Deliver) -> None:
        (message,) = delivery.messages
        word = await self._outcome(message)
        failed = (message,) if word in FAILURES else ()
        self._client.handled(delivery, failed, error=_error(word))

    async def _outcome(self, message: Received) -> str:
        """Tell of *message*, and return what the listener answers."""
        line = line_of(message)
        self._tell({"event": "message", "consumer": self._name, "message": line})
        keys = message.properties.get(Property.KEYS, "")
        words = self._outcomes.get(keys)
        word: str = words.pop(0) if words else SUCCESS
        if word == HOLD:
            await self._released[keys].wait()
        return word


def _error(word: str) -> str | None:
    """Return what a listener throws."""
    return "RuntimeError: it was told to fail" if word == FAIL else None


def _options(asked: dict[str, Any]) -> ConsumerOptions:
    """Return the options that a line asks for."""
    if asked["kind"] != "push" or len(asked["subscriptions"]) != 1:
        raise UnsupportedError("only a push consumer of one topic")
    given = dict(asked.get("options", {}))
    rule = _rule(given)
    limits = {LIMITS[name]: given.pop(name) for name in LIMITS if name in given}
    own, periods = split_options(given, OPTIONS)
    (subscription,) = asked["subscriptions"]
    return ConsumerOptions(
        group=asked["group"],
        client_id=own_id(asked),
        topic=subscription["topic"],
        expression=subscription.get("expression", "*"),
        expression_type=subscription.get("type", TAGS),
        from_first=asked.get("from") == "first",
        broadcasts=asked.get("model") == "broadcasting",
        in_order=asked.get("order") == "orderly",
        periods=periods,
        limits=Limits(**limits),
        rule=rule,
        **own,
    )


def _rule(given: dict[str, Any]) -> Allocation:
    """Take the rule by which queues are shared out of the options."""
    name = given.pop("allocation", "AVG")
    if name == "MACHINE_ROOM":
        return by_machine_room(given.pop("rooms"))
    if name == "CONFIG":
        told = given.pop("own_queues")
        queues = [Queue(one["topic"], one["broker"], one["queue_id"]) for one in told]
        return by_config(queues)
    if name not in RULES:
        raise UnsupportedError(f"no allocation {name}")
    return RULES[name]

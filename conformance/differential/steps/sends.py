"""Steps that bring messages: plain, batched, delayed, half, handed back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from conformance.differential.steps.step import Nothing, Response, Step
from conformance.differential.world import World
from conformance.harness.client.client import batch_body
from conformance.harness.client.peer import RESPONSE_TIMEOUT_S
from spec.wire.message.transactions import Decision
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

Properties = tuple[tuple[str, str], ...]
BORN_AT_MS = 1_600_000_000_000
"""Born time of every message of a program; brokers accept any."""
DELIVERY_TIMEOUT_S = 8.0
SILENCE_S = 2.0
"""Wait for a response that no release sends to an undecided end of a transaction."""
NEVER = 18
"""The delay level of two hours, so that no program sees the end of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Send(Step):
    """One message."""

    topic: str = "T0"
    queue_id: int = 0
    payload: bytes = b"m"
    properties: Properties = ()
    flag: int = 0
    system_flags: int = 0
    reconsume_times: int = 0
    max_reconsume_times: int | None = None
    letters: bool = True
    default_topic: str = "TBW102"
    queue_count: int = 4

    kind: ClassVar[str] = "send"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Send it, and note where it went."""
        world.pace()
        named = (
            RequestCode.SEND_MESSAGE_V2 if self.letters else RequestCode.SEND_MESSAGE
        )
        response = world.broker.send_message(
            topic=world.named(self.topic),
            queue_id=self.queue_id,
            body=self.payload,
            properties=_own(world, self.properties),
            group=world.named("G9"),
            flag=self.flag,
            system_flags=self.system_flags,
            born_at_ms=BORN_AT_MS,
            reconsume_times=self.reconsume_times,
            max_reconsume_times=self.max_reconsume_times,
            default_topic=self.default_topic,
            default_queue_count=self.queue_count,
            code=named,
        )
        unique = _own(world, self.properties).get("UNIQ_KEY", "")
        keys = list(keys_of(self.properties))
        # A message of a retry topic may become a dead letter instead.
        is_readable = not self.topic.startswith("%RETRY%")
        world.note(
            self.topic,
            response,
            count=int(is_readable),
            keys=keys * is_readable,
            unique_key=unique,
        )
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class SendBatch(Step):
    """Several messages in one request."""

    topic: str = "T0"
    queue_id: int = 0
    messages: tuple[tuple[bytes, Properties], ...] = ((b"b", ()),)

    kind: ClassVar[str] = "send batch"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Send them, and note where the first went."""
        world.pace()
        pairs = [(body, _own(world, own)) for body, own in self.messages]
        response = world.broker.send_message(
            topic=world.named(self.topic),
            queue_id=self.queue_id,
            body=batch_body(pairs),
            group=world.named("G9"),
            born_at_ms=BORN_AT_MS,
            code=RequestCode.SEND_BATCH_MESSAGE,
            batch=True,
        )
        keys = [key for _, own in self.messages for key in keys_of(own)]
        is_readable = not self.topic.startswith("%RETRY%")
        count = len(self.messages) * is_readable
        world.note(self.topic, response, count=count, keys=keys * is_readable)
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class SendDelayed(Step):
    """One message for later; of level 1 it is waited for."""

    queue_id: int = 0
    level: int = NEVER
    payload: bytes = b"d"

    kind: ClassVar[str] = "send delayed"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Send it, and wait until it is in its queue if that is soon."""
        world.pace()
        topic = world.named("T0")
        world.settle("T0", self.queue_id)
        response = world.broker.send_message(
            topic=topic,
            queue_id=self.queue_id,
            body=self.payload,
            properties={"DELAY": str(self.level)},
            born_at_ms=BORN_AT_MS,
        )
        if response.code == ResponseCode.SUCCESS and self.level == 1:
            world.grew("T0", self.queue_id)
            world.settle("T0", self.queue_id, timeout_s=DELIVERY_TIMEOUT_S)
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class SendHalf(Step):
    """Half message, invisible to consumers until it is decided."""

    queue_id: int = 0
    payload: bytes = b"h"

    kind: ClassVar[str] = "send half"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Send it, and note it for a decision."""
        world.pace()
        group, key = world.named("G8"), f"{world.prefix}H{len(world.halves)}"
        response = world.broker.send_message(
            topic=world.named("T0"),
            queue_id=self.queue_id,
            body=self.payload,
            properties={"TRAN_MSG": "true", "PGROUP": group, "UNIQ_KEY": key},
            group=group,
            born_at_ms=BORN_AT_MS,
        )
        world.note_half("T0", response, key)
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide(Step):
    """Decision about a half message; only one, since two may deliver it twice."""

    half: int = 0
    decision: int = int(Decision.COMMIT)
    right_group: bool = True

    kind: ClassVar[str] = "end transaction"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Send it, and wait until a committed message can be read."""
        one = world.half(self.half)
        if one is None:
            return Nothing.NOT_SENT
        world.pace()
        world.settle("T0", one.queue_id)
        is_decided = self.decision != Decision.UNKNOWN
        response = world.broker.invoke(
            RequestCode.END_TRANSACTION,
            {
                "producerGroup": world.named("G8" if self.right_group else "G7"),
                "tranStateTableOffset": one.queue_offset,
                "commitLogOffset": one.commit_log_offset,
                "commitOrRollback": self.decision,
                "fromTransactionCheck": False,
                "msgId": one.unique_key,
                "transactionId": one.unique_key,
            },
            timeout_s=RESPONSE_TIMEOUT_S if is_decided else SILENCE_S,
        )
        if response.code == ResponseCode.SUCCESS and self.decision == Decision.COMMIT:
            world.grew("T0", one.queue_id)
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class SendBack(Step):
    """A message that a consumer could not do anything with."""

    message: int = 0
    group: str = "G0"
    delay_level: int = NEVER
    most: int | None = None

    kind: ClassVar[str] = "send back"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Hand it back."""
        one = world.message(self.message)
        if one is None:
            return Nothing.NOT_SENT
        world.pace()
        group = world.named(self.group)
        return world.broker.send_back(
            group=group,
            commit_log_offset=one.commit_log_offset,
            delay_level=self.delay_level,
            origin_topic=world.named(one.topic),
            max_reconsume_times=self.most,
        )


def keys_of(properties: Properties) -> Iterator[str]:
    """Yield the keys under which a message is found."""
    for name, value in properties:
        if name == "KEYS":
            yield from filter(None, value.split(" "))


def _own(world: World, properties: Properties) -> dict[str, str]:
    """Return *properties* with the names of this program; a unique key is its own."""
    return {
        name: world.named(value) if name == "UNIQ_KEY" else value
        for name, value in properties
    }

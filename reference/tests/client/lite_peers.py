"""A lite pull consumer and its peers, with scripted responses."""

from __future__ import annotations

from collections.abc import Mapping

from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions
from reference.core.client.pull.lite_pull_consumer import LitePullConsumer
from reference.core.client.pull.message_ext import MessageExt
from reference.tests.client.peers import (
    CLIENT_ID,
    GROUP,
    QUEUE,
    TOPIC,
    ScriptedPeers,
    record,
)
from reference.tests.client.world import Call, SentRequest
from spec.store.message_record import Record
from spec.wire.remoting.request_code import RequestCode


class LitePeers(ScriptedPeers):
    """A lite pull consumer whose topic has two queues, with 100 messages each."""

    def __init__(
        self, persisted: Mapping[MessageQueue, int] | None = None, **options: object
    ) -> None:
        super().__init__(count=2)
        self.committed = {(TOPIC, 0): 5, (TOPIC, 1): 5}
        self.first_offset, self.end_offset = 1, 100
        given: dict[str, object] = {
            "group": GROUP,
            "client_id": CLIENT_ID,
            **options,
        }
        self.world.client.local_offsets.update(persisted or {})
        self.consumer = LitePullConsumer(
            LiteOptions(**given),  # type: ignore[arg-type] # tests know the names
            self.world.client,
        )
        self.consumer.start()

    def subscribed(self, expression: str = "*") -> LitePeers:
        """Return this one, subscribed and with its assigned queues."""
        self.consumer.subscribe(TOPIC, expression)
        self.go_on()
        return self

    def assigned(self, *queues: MessageQueue) -> LitePeers:
        """Return this one with exactly *queues*."""
        self.consumer.assign(queues or (QUEUE,))
        self.go_on()
        return self

    def find_offsets(self, pull: SentRequest, *offsets: int) -> None:
        """Respond to a pull with messages of these offsets."""
        self.find(pull, *(record(one) for one in offsets))

    def respond_to_pull(
        self,
        pull: SentRequest,
        code: int,
        next_offset: int,
        records: tuple[Record, ...] = (),
        suggested: int = 0,
    ) -> None:
        """Respond to a pull with *code*, and to the requests that follow."""
        super().respond_to_pull(pull, code, next_offset, records, suggested)
        self.go_on()

    def poll(self, timeout_ms: int = 0) -> list[int] | None:
        """Return the offsets of the messages that a poll leads to; None if it waits."""
        return self.polled(self.begin(timeout_ms))

    def begin(self, timeout_ms: int) -> Call:
        """Begin a poll, as `reference.shell.client.consumers` does one."""

        async def polled() -> tuple[MessageExt, ...]:
            has_batch = await self.consumer.wait_for_batch(timeout_ms)
            return self.consumer.pull_loop.poll() if has_batch else ()

        return self.world.begin(polled())

    def polled(self, call: Call) -> list[int] | None:
        """Return the offsets of a poll's messages, if it has ended."""
        self.go_on()
        found = self.world.finished.get(call)
        if found is None:
            return None
        assert isinstance(found, tuple), found
        assert all(isinstance(one, MessageExt) for one in found)
        return [one.record.queue_offset for one in found]

    def commits(self) -> list[tuple[int, str, bool]]:
        """Return queue, offset and whether it was oneway, of every commit."""
        self.go_on()
        return [
            (int(one.fields["queueId"]), one.fields["commitOffset"], one.is_oneway)
            for one in self.sent(RequestCode.UPDATE_CONSUMER_OFFSET)
        ]

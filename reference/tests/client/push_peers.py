"""A push consumer and its peers, with scripted responses."""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.client.consumer.push_consumer import PushConsumer
from reference.core.client.effects import DeliverMessages
from reference.core.client.message import MessageQueue
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.tests.client.peers import CLIENT_ID, GROUP, TOPIC, ScriptedPeers


class PushPeers(ScriptedPeers):
    """A push consumer of one topic, and its peers."""

    def __init__(self, *, count: int = 1, **options: object) -> None:
        super().__init__(count=count)
        given: dict[str, object] = {
            "group": GROUP,
            "client_id": CLIENT_ID,
            "topic": TOPIC,
            **options,
        }
        self.consumer = PushConsumer(
            ConsumerOptions(**given),  # type: ignore[arg-type] # tests know the names
            self.world.client,
        )

    def start(self) -> None:
        """Start the consumer and respond to its requests, until it pulls."""
        self.consumer.start()
        self.go_on()

    def delivered(self) -> list[DeliverMessages]:
        """Return the deliveries to the application, after the responses."""
        self.go_on()
        found, self.world.delivered = self.world.delivered, []
        return found

    def consumed(
        self,
        queue: MessageQueue,
        messages: Sequence[MessageExt],
        failed: Sequence[MessageExt] = (),
    ) -> None:
        """Report that the application has consumed *messages*."""
        pull_loop = self.consumer.pull_loop
        pull_loop.process_consume_result(queue, messages, failed=failed)

"""
Java clients of one release at one server: producers, consumers, tools, and their names.

Everything that a feature opens has a name of its own and is shut down when the feature
has ended, so that features do not disturb one another in their one Java machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.harness.deadline import TooLateError, wait_until
from conformance.harness.fixtures import create_topic, unique_name
from conformance.harness.speaker import succeeded
from conformance.harness.target import Target
from conformance.interop.java_listeners import (
    ConcurrentListener,
    OrderedListener,
    Received,
    Take,
    received,
)
from spec.clause import release_key

PATIENCE_S = 40.0
"""How long a feature waits for messages that never come."""
SOON_MS = 1000
"""Pause between heartbeats and between looks at routes; they are 30 s by default."""
SEND_TIMEOUT_MS = 20_000
"""A busy machine is no broker that is lost."""


@dataclass(slots=True, kw_only=True)
class JavaSession:
    """One Java machine, one server, and what the running feature has opened."""

    gateway: Any
    target: Target
    release: str
    """That of the client."""
    _opened: list[Any] = field(default_factory=list)

    @property
    def mq(self) -> Any:
        """The package of everything that is RocketMQ's."""
        return self.gateway.jvm.org.apache.rocketmq

    def close(self) -> None:
        """Shut down whatever was opened."""
        while self._opened:
            self._opened.pop().shutdown()

    @property
    def protocol(self) -> Any:
        """The package of bodies and their parts, which moved in 5.0."""
        is_new = release_key(self.release) >= (5,)
        return self.mq.remoting.protocol if is_new else self.mq.common.protocol

    @property
    def subscription(self) -> Any:
        """The package of the settings of groups, which moved in 5.0."""
        is_new = release_key(self.release) >= (5,)
        return (self.protocol if is_new else self.mq.common).subscription

    @staticmethod
    def name(prefix: str) -> str:
        """Return a name that nobody else uses."""
        return unique_name(prefix)

    def names(self, *given: str) -> Any:
        """Return Java's set of names."""
        many = self.gateway.jvm.java.util.HashSet()
        for one in given:
            many.add(one)
        return many

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets of queues for a group, which is made for it."""
        with self.target.speak_to_broker() as broker:
            succeeded(broker.update_group(group=group))
            for queue, offset in offsets.items():
                answer = broker.update_offset(
                    group=group, topic=topic, queue_id=queue, offset=offset
                )
                succeeded(answer)

    def committed(self, group: str, topic: str, queues: Iterable[int]) -> list[int]:
        """Return what a group has committed of queues, -1 for nothing."""
        with self.target.speak_to_broker() as broker:
            answers = [
                broker.query_offset(group=group, topic=topic, queue_id=queue)
                for queue in queues
            ]
        return [int(answer.fields.get("offset", "-1")) for answer in answers]

    def topic(self, *, queue_count: int = 4) -> str:
        """Return a new topic."""
        return create_topic(self.target, self.name("topic"), queue_count=queue_count)

    def named(self, client: Any) -> Any:
        """Return *client*, set up for the server and with a name of its own."""
        client.setNamesrvAddr(str(self.target.namesrv))
        client.setInstanceName(self.name("client"))
        client.setHeartbeatBrokerInterval(SOON_MS)
        client.setPollNameServerInterval(SOON_MS)
        return client

    def started(self, client: Any) -> Any:
        """Start *client*; it is shut down when the feature has ended."""
        client.start()
        self._opened.append(client)
        return client

    def shut(self, client: Any) -> None:
        """Shut down *client* now."""
        self._opened.remove(client)
        client.shutdown()

    def producer(self, made: Any = None) -> Any:
        """Return a producer, started."""
        plain = self.mq.client.producer.DefaultMQProducer
        producer = self.named(made or plain(self.name("producers")))
        producer.setSendMsgTimeout(SEND_TIMEOUT_MS)
        return self.started(producer)

    def admin(self) -> Any:
        """Return the tools, started."""
        tools = self.mq.tools.admin.DefaultMQAdminExt()
        tools.setAdminExtGroup(self.name("tools"))
        return self.started(self.named(tools))

    def message(self, topic: str, body: bytes | str, **more: str) -> Any:
        """Return a message; *more* are its properties, *tags* and *keys* as such."""
        data = body.encode() if isinstance(body, str) else body
        tags, keys = more.pop("tags", ""), more.pop("keys", "")
        made = self.mq.common.message.Message(topic, tags, keys, data)
        for name, value in more.items():
            made.putUserProperty(name, value)
        return made

    def messages(self, made: Iterable[Any]) -> Any:
        """Return Java's list of messages."""
        many = self.gateway.jvm.java.util.ArrayList()
        for one in made:
            many.add(one)
        return many

    def queue(self, topic: str, number: int = 0) -> Any:
        """Return one queue of a topic."""
        queue = self.mq.common.message.MessageQueue
        return queue(topic, self.target.broker_name, number)

    def push_consumer(self, group: str = "") -> Any:
        """Return a consumer that begins at the beginning, not yet started."""
        consumers = self.mq.client.consumer
        group = group or self.name("consumers")
        consumer = self.named(consumers.DefaultMQPushConsumer(group))
        first = self.mq.common.consumer.ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
        consumer.setConsumeFromWhere(first)
        consumer.setPersistConsumerOffsetInterval(SOON_MS)
        return consumer

    def listen(self, consumer: Any, take: Take, *, in_order: bool = False) -> Any:
        """Start *consumer*, which hands its messages to *take*."""
        listeners = self.mq.client.consumer.listener
        if in_order:
            status = listeners.ConsumeOrderlyStatus
            later = status.SUSPEND_CURRENT_QUEUE_A_MOMENT
            listener: Any = OrderedListener(take, done=status.SUCCESS, later=later)
        else:
            status = listeners.ConsumeConcurrentlyStatus
            listener = ConcurrentListener(
                take, done=status.CONSUME_SUCCESS, later=status.RECONSUME_LATER
            )
        consumer.registerMessageListener(listener)
        return self.started(consumer)

    def consume(
        self, topic: str, count: int, *, by: Any = "*", in_order: bool = False
    ) -> list[Received]:
        """Return the messages that a new group gets, *count* or those in time."""
        got: list[Received] = []
        consumer = self.push_consumer()
        consumer.subscribe(topic, by)
        self.listen(consumer, keep_all(got), in_order=in_order)
        self.wait(lambda: len(got) >= count, f"{count} messages have come")
        self.shut(consumer)
        return got

    def wait(self, condition: Callable[[], bool], what: str) -> bool:
        """Wait for a condition and return whether it came true."""
        try:
            wait_until(condition, what=what, timeout_s=PATIENCE_S)
        except TooLateError:
            return False
        return True

    def settled(self, ask: Callable[[], str], wanted: str) -> str:
        """Return *wanted* as soon as it is the answer, else the last one."""
        answers: list[str] = []

        def asked() -> bool:
            answers.append(ask())
            return answers[-1] == wanted or "Exception" in answers[-1]

        self.wait(asked, f"the answer is {wanted}")
        return answers[-1]


def keep_all(got: list[Received]) -> Take:
    """Return what takes messages into *got*."""

    def take(message: Any) -> bool:
        got.append(received(message))
        return True

    return take

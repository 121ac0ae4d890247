"""
The features of the Java clients that are ways to consume: each one a small program.

Where a filter leaves messages out, all are in one queue and the last is one that is
wanted: when it has come, the others have been passed over.
"""

from __future__ import annotations

from typing import Any

from conformance.interop.java_listeners import Received, received
from conformance.interop.java_sends import attempt, texts, whole
from conformance.interop.java_session import PATIENCE_S, JavaSession, keep_all

POLL_MS = 200


def by_tag(java: JavaSession) -> object:
    topic, producer = java.topic(queue_count=1), java.producer()
    for n, tag in enumerate("ABCDBA"):
        message = java.message(topic, f"{n} {tag}", tags=tag)
        producer.send(message, java.queue(topic))
    return texts(java.consume(topic, 4, by="A || B"))


def by_sql(java: JavaSession) -> object:
    topic, producer = java.topic(queue_count=1), java.producer()
    for n in range(6):
        message = java.message(topic, f"{n}", tags="AB"[n % 2], a=str(n))
        producer.send(message, java.queue(topic))
    selector = java.mq.client.consumer.MessageSelector
    right = selector.bySql("a BETWEEN 1 AND 5 AND TAGS = 'B' OR a IS NULL")
    return texts(java.consume(topic, 3, by=right))


def broadcast(java: JavaSession) -> object:
    topic, producer, group = java.topic(), java.producer(), java.name("broadcast")
    each: list[list[Received]] = [[], []]
    for got in each:
        consumer = java.push_consumer(group)
        consumer.setMessageModel(java.protocol.heartbeat.MessageModel.BROADCASTING)
        consumer.subscribe(topic, "*")
        java.listen(consumer, keep_all(got))
    for n in range(4):
        producer.send(java.message(topic, f"{n}"))
    java.wait(lambda: all(len(got) >= 4 for got in each), "each has all")
    return [texts(got) for got in each]


def rebalance(java: JavaSession) -> object:
    topic, producer, group = java.topic(), java.producer(), java.name("two")
    got: list[Received] = []

    def join() -> Any:
        consumer = java.push_consumer(group)
        consumer.subscribe(topic, "*")
        return java.listen(consumer, keep_all(got))

    def have(*wanted: int) -> list[int]:
        java.wait(lambda: shares() == [*wanted], f"the queues are divided {wanted}")
        return shares()

    def shares() -> list[int]:
        return sorted(_queues_of(consumer, topic) for consumer in members)

    members = [join()]
    alone = have(4)
    members.append(join())
    both = have(2, 2)
    for n in range(8):
        message = java.message(topic, f"{n}")
        producer.send(message, java.queue(topic, n % 4))
    java.wait(lambda: len(got) >= 8, "all have come")
    java.shut(members.pop(0))
    return {
        "alone": alone,
        "both": both,
        "received": sorted({one.text for one in got}),
        "one left": have(4),
    }


def _queues_of(consumer: Any, topic: str) -> int:
    """Return how many queues of a topic a consumer has, as its own table says."""
    rebalance = consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl()
    table = rebalance.getProcessQueueTable()
    return sum(queue.getTopic() == topic for queue in table)


def retry(java: JavaSession) -> object:
    topic, producer = java.topic(), java.producer()
    producer.send(java.message(topic, "refused once", tags="A", keys="k", own="v"))
    got: list[Received] = []

    def refuse_once(message: Any) -> bool:
        got.append(received(message))
        return len(got) > 1

    consumer = java.push_consumer()
    consumer.subscribe(topic, "A")
    java.listen(consumer, refuse_once)
    java.wait(lambda: len(got) >= 2, "it has come again")
    return {
        "received": whole(got),
        "tries": [one.tries for one in got],
        "under its topic": [one.topic == topic for one in got],
    }


def dead_letters(java: JavaSession) -> object:
    topic, producer, group = java.topic(), java.producer(), java.name("refusing")
    producer.send(java.message(topic, "never wanted", tags="A", keys="k", own="v"))
    tries: list[int] = []

    def refuse(message: Any) -> bool:
        tries.append(message.getReconsumeTimes())
        return False

    consumer = java.push_consumer(group)
    consumer.subscribe(topic, "*")
    consumer.setMaxReconsumeTimes(1)
    java.listen(consumer, refuse)
    found: list[Received] = []

    def buried() -> bool:
        found[:] = _found(java, admin, f"%DLQ%{group}")
        return bool(found)

    admin = java.admin()
    java.wait(buried, "it is among the dead letters")
    return {
        "tries": tries,
        "dead": whole(found),
        "of its topic": [one.properties["RETRY_TOPIC"] == topic for one in found],
    }


def _found(java: JavaSession, admin: Any, topic: str) -> list[Received]:
    """Return what has the key k in a topic; nothing while there is no such topic."""
    end = java.gateway.jvm.java.lang.System.currentTimeMillis() + 60_000
    answers: list[Received] = []

    def ask() -> str:
        found = admin.queryMessage(topic, "k", 32, end - 3_600_000, end)
        answers.extend(map(received, found.getMessageList()))
        return "found"

    attempt(ask)
    return answers


def pull(java: JavaSession) -> object:
    topic, producer, group = java.topic(queue_count=1), java.producer(), java.name("p")
    for n in range(6):
        message = java.message(topic, f"{n}", tags="AB"[n % 2])
        producer.send(message, java.queue(topic))
    consumer = _puller(java, group)
    queues = list(consumer.fetchSubscribeMessageQueues(topic))
    queue = queues[0]
    java.wait(lambda: consumer.maxOffset(queue) == 6, "all are in the queue")
    whole_queue = consumer.pull(queue, "*", 0, 4)
    tagged = consumer.pull(queue, "B", 0, 32)
    consumer.getOffsetStore().updateConsumeOffsetToBroker(queue, 4, False)
    earliest = consumer.earliestMsgStoreTime(queue)
    return {
        "queues": len(queues),
        "pulled": [str(whole_queue.getPullStatus()), *_bodies(whole_queue)],
        "next": whole_queue.getNextBeginOffset(),
        "by tag": _bodies(tagged),
        "at the end": str(consumer.pull(queue, "*", 6, 32).getPullStatus()),
        "behind the end": str(consumer.pull(queue, "*", 60, 32).getPullStatus()),
        "ends": [consumer.minOffset(queue), consumer.maxOffset(queue)],
        "first by time": consumer.searchOffset(queue, earliest - 1000),
        "committed": _puller(java, group).fetchConsumeOffset(queue, True),
    }


def _puller(java: JavaSession, group: str) -> Any:
    return java.started(
        java.named(java.mq.client.consumer.DefaultMQPullConsumer(group))
    )


def _bodies(pulled: Any) -> list[str]:
    return [received(one).text for one in pulled.getMsgFoundList() or ()]


def lite_pull(java: JavaSession) -> object:
    """One consumer subscribes; another takes a queue, and looks where it wants."""
    topic, producer, group = java.topic(queue_count=2), java.producer(), java.name("l")
    for n in range(6):
        producer.send(java.message(topic, f"{n}"), java.queue(topic, n % 2))
    java.commit(group, topic, {0: 0, 1: 0})  # else it begins at the end
    make = java.mq.client.consumer.DefaultLitePullConsumer
    subscriber = java.named(make(group))
    subscriber.subscribe(topic, "*")
    subscribed = _polled(java, java.started(subscriber), 6)
    java.shut(subscriber)

    seeker = java.named(make(java.name("seekers")))
    seeker.setAutoCommit(False)
    java.started(seeker)
    queue = java.queue(topic, 1)
    seeker.assign(java.messages([queue]))
    seeker.seek(queue, 1)
    sought = _polled(java, seeker, 2)
    return {"subscribed": subscribed, "sought": sought}


def _polled(java: JavaSession, consumer: Any, count: int) -> list[str]:
    got: list[Received] = []

    def poll() -> bool:
        got.extend(map(received, consumer.poll(POLL_MS)))
        return len(got) >= count

    java.wait(poll, f"{count} messages are polled within {PATIENCE_S} s")
    return texts(got)

"""
The reference's client at one server, driven through its adapter, launched by name.

The lines are those of docs/client_adapter.md. Whatever a feature opens has a name of
its own and is stopped when the feature has ended.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from conformance.harness.client_adapter import Adapter, Line
from conformance.harness.client_target import REFERENCE
from conformance.harness.deadline import TooLateError, wait_until
from conformance.harness.embedded import SOURCES
from conformance.harness.fixtures import create_topic, unique_name
from conformance.harness.speaker import succeeded
from conformance.harness.target import Target
from conformance.interop.java_session import PATIENCE_S, SEND_TIMEOUT_MS, SOON_MS
from spec.wire.heartbeat import ConsumerConnections
from spec.wire.json_body import decode_body
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.running_info import RunningInfo

TEXT_SIZE = 20
"""So much of a body is shown."""


class RefusedError(Exception):
    """The client refused or failed."""

    def __init__(self, error: Line) -> None:
        super().__init__(str(error.get("text")))
        self.kind, self.code = error["kind"], error.get("code")


@dataclass(slots=True, kw_only=True)
class OwnSession:
    """A running adapter, one server, and what the running feature has opened."""

    target: Target
    adapter: Adapter
    _opened: list[str] = field(default_factory=list)

    def close(self) -> None:
        """Stop whatever was opened."""
        while self._opened:
            self.ask("stop", name=self._opened.pop())

    @staticmethod
    def name(prefix: str) -> str:
        """Return a name that nobody else uses."""
        return unique_name(prefix)

    def topic(self, *, queue_count: int = 4) -> str:
        """Return a new topic."""
        return create_topic(self.target, self.name("topic"), queue_count=queue_count)

    def ask(self, verb: str, **fields: object) -> Line:
        """Return the result of what a line asks; raises RefusedError."""
        return result_of(self.adapter.ask(verb, **fields).wait())

    def producer(self, group: str = "", **options: object) -> str:
        """Return the name of a producer, started."""
        given = {"send_timeout_ms": SEND_TIMEOUT_MS, **options}
        group = group or self.name("producers")
        return self._started("producer", group=group, options=given)

    def send(
        self,
        producer: str,
        topic: str,
        body: str | bytes,
        *,
        mode: str = "sync",
        more: Mapping[str, object] | None = None,
        **message: object,
    ) -> Line:
        """Send a message; *more* are fields of the line. Return what is told of it."""
        told = {"topic": topic, "body": encoded(body), **message}
        fields = {"producer": producer, "mode": mode, "message": told, **(more or {})}
        return self.ask("send", **fields)

    def push_consumer(self, topic: str, *, group: str = "", **given: Any) -> str:
        """Return the name of a consumer that begins at the beginning, started."""
        expression = given.pop("by", {"expression": "*"})
        options = {"persist_ms": SOON_MS, "heartbeat_ms": SOON_MS}
        return self._started(
            "consumer",
            kind="push",
            group=group or self.name("consumers"),
            subscriptions=[{"topic": topic, **expression}],
            options={**options, **given.pop("options", {})},
            **{"from": "first", **given},
        )

    def pull_consumer(self, group: str = "") -> str:
        """Return the name of a consumer that pulls when it is told to, started."""
        group = group or self.name("pulling")
        return self._started("consumer", kind="pull", group=group)

    def lite_consumer(self, *topics: str, **given: object) -> str:
        """Return the name of a consumer of *topics* that is polled, started."""
        subscriptions = [{"topic": topic} for topic in topics]
        return self._started(
            "consumer", kind="lite", subscriptions=subscriptions, **given
        )

    def stop(self, name: str) -> None:
        """Stop a producer or consumer now."""
        self._opened.remove(name)
        self.ask("stop", name=name)

    def _started(self, verb: str, **fields: object) -> str:
        name = self.name(verb)
        self.ask(verb, name=name, namesrv=str(self.target.namesrv), **fields)
        self._opened.append(name)
        return name

    def got(self, *consumers: str) -> list[Line]:
        """Return the messages that came to *consumers* so far."""
        return [
            one["message"]
            for one in list(self.adapter.events)
            if one["event"] == "message" and one["consumer"] in consumers
        ]

    def consume(self, topic: str, count: int, **given: Any) -> list[Line]:
        """Return the messages that a new group gets, *count* or those in time."""
        consumer = self.push_consumer(topic, **given)
        self.wait(lambda: len(self.got(consumer)) >= count, f"{count} have come")
        self.stop(consumer)
        return self.got(consumer)

    @staticmethod
    def wait(condition: Callable[[], bool], what: str) -> bool:
        """Wait for a condition and return whether it came true."""
        try:
            wait_until(condition, what=what, timeout_s=PATIENCE_S)
        except TooLateError:
            return False
        return True

    def committed(self, group: str, topic: str, count: int) -> list[int]:
        """Return what a group has committed of *count* queues, -1 for nothing."""
        with self.target.speak_to_broker() as broker:
            answers = [
                broker.query_offset(group=group, topic=topic, queue_id=number)
                for number in range(count)
            ]
        return [int(answer.fields.get("offset", "-1")) for answer in answers]

    def shares(self, group: str, topic: str) -> list[list[int]]:
        """Return the ids of the queues that each member of a group says it has."""
        with self.target.speak_to_broker() as broker:
            answer = broker.consumer_connections(group=group)
            if answer.code != ResponseCode.SUCCESS:
                return []
            members = decode_body(ConsumerConnections, answer.body).connections
            told = [
                succeeded(
                    broker.ask(
                        RequestCode.GET_CONSUMER_RUNNING_INFO,
                        {"consumerGroup": group, "clientId": one.client_id},
                    )
                )
                for one in members
            ]
        infos = [decode_body(RunningInfo, one.body) for one in told]
        return sorted(
            sorted(one.queue_id for one in info.queues if one.topic == topic)
            for info in infos
        )


@contextmanager
def own_session(target: Target) -> Iterator[OwnSession]:
    """Yield the reference's client at *target*; it ends in the end."""
    adapter = Adapter(REFERENCE, directory=SOURCES)
    try:
        adapter.hello()
        yield OwnSession(target=target, adapter=adapter)
    finally:
        adapter.close()


def result_of(answer: Line) -> Line:
    """Return the result that a line tells; raises RefusedError where it has none."""
    assert "unsupported" not in answer, answer
    if "error" in answer:
        raise RefusedError(answer["error"])
    found: Line = answer["result"]
    return found


def encoded(body: str | bytes) -> str:
    """Return a body as lines have it."""
    return base64.b64encode(body.encode() if isinstance(body, str) else body).decode()


def body_of(message: Line) -> bytes:
    """Return the body of a message."""
    return base64.b64decode(message["body"])


def text_of(message: Line) -> str:
    """Return the beginning of a message's body."""
    return body_of(message).decode()[:TEXT_SIZE]


def texts(got: list[Line]) -> list[str]:
    """Return the bodies, in order."""
    return sorted(map(text_of, got))


def whole(got: list[Line]) -> list[list[str | None]]:
    """Return body, tag, keys and own property of each message, in order of bodies."""
    return sorted(
        [
            text_of(one),
            one.get("tags"),
            one.get("keys"),
            one["properties"].get("own"),
        ]
        for one in got
    )

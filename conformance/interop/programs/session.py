"""
Session of one client at one server, driven through the client's adapter.

The adapter's protocol is that of docs/client_adapter.md: the reference's client and
every Java client speak it. All that a feature opens has a unique name and is stopped at
the end of the feature.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from conformance.harness.client.client import require_success
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.client_adapter import Adapter, Line
from conformance.harness.targets.client_target import REFERENCE
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import Target
from spec.wire.bodies.heartbeat import ConsumerConnection
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.running_info import ConsumerRunningInfo
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

PATIENCE_S = 40.0
"""Wait of a feature for messages that may never arrive."""
HEARTBEAT_MS = 1000
"""Interval of heartbeats, offset commits and route polls; Java's default is 30 s."""
SEND_TIMEOUT_MS = 20_000
"""Long enough that a busy machine does not count as a lost broker."""
TEXT_SIZE = 20
"""Characters of a body that an outcome keeps."""


EXCEPTIONS = {"client": "MQClientException", "broker": "MQBrokerException"}
"""Java class for a kind of error of the protocol."""


class ClientError(Exception):
    """Error that the client reported; *failure* is its Java class and its code."""

    def __init__(self, error: Line) -> None:
        super().__init__(str(error.get("text")))
        kind, code = error["kind"], error.get("code")
        name = EXCEPTIONS.get(kind, kind)
        self.failure = name if code is None else f"{name} {code}"


@dataclass(slots=True, kw_only=True)
class ClientSession:
    """A running adapter, one server, and what the running feature has opened."""

    target: Target
    adapter: Adapter
    _opened: list[str] = field(default_factory=list)

    def close(self) -> None:
        """Stop all open producers and consumers."""
        while self._opened:
            self.call("stop", name=self._opened.pop())

    @staticmethod
    def name(prefix: str) -> str:
        """Return a unique name."""
        return unique_name(prefix)

    def topic(self, *, queue_count: int = 4) -> str:
        """Return a new topic."""
        return create_topic(self.target, self.name("topic"), queue_count=queue_count)

    def call(self, verb: str, **fields: object) -> Line:
        """Return the result of a request; raises ClientError."""
        return result_of(self.adapter.call(verb, **fields).wait())

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
        """Send a message; *more* are further fields of the request.

        Return its result.
        """
        content = {"topic": topic, "body": encoded(body), **message}
        fields = {
            "producer": producer,
            "mode": mode,
            "message": content,
            **(more or {}),
        }
        return self.call("send", **fields)

    def push_consumer(self, topic: str, *, group: str = "", **given: Any) -> str:
        """Return the name of a consumer that begins at the beginning, started."""
        expression = given.pop("by", {"expression": "*"})
        options = {"persist_ms": HEARTBEAT_MS, "heartbeat_ms": HEARTBEAT_MS}
        return self._started(
            "consumer",
            kind="push",
            group=group or self.name("consumers"),
            subscriptions=[{"topic": topic, **expression}],
            options={**options, **given.pop("options", {})},
            **{"from": "first", **given},
        )

    def pull_consumer(self, group: str = "") -> str:
        """Return the name of a pull consumer, started."""
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
        self.call("stop", name=name)

    def _started(self, verb: str, **fields: object) -> str:
        name = self.name(verb)
        self.call(verb, name=name, namesrv=str(self.target.namesrv), **fields)
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
        """Return a group's committed offsets of *count* queues, -1 for none."""
        with self.target.connect_to_broker() as broker:
            responses = [
                broker.query_offset(group=group, topic=topic, queue_id=number)
                for number in range(count)
            ]
        return [int(response.fields.get("offset", "-1")) for response in responses]

    def shares(self, group: str, topic: str) -> list[list[int]]:
        """Return the assigned queue ids that each member of a group reports."""
        with self.target.connect_to_broker() as broker:
            response = broker.consumer_connections(group=group)
            if response.code != ResponseCode.SUCCESS:
                return []
            members = decode_body(ConsumerConnection, response.body).connections
            responses = [
                require_success(
                    broker.invoke(
                        RequestCode.GET_CONSUMER_RUNNING_INFO,
                        {"consumerGroup": group, "clientId": one.client_id},
                    )
                )
                for one in members
            ]
        infos = [decode_body(ConsumerRunningInfo, one.body) for one in responses]
        return sorted(
            sorted(one.queue_id for one in info.queues if one.topic == topic)
            for info in infos
        )


@contextmanager
def open_session(target: Target, command: str = REFERENCE) -> Iterator[ClientSession]:
    """Yield a session of the client behind the adapter *command* at *target*."""
    adapter = Adapter(command, directory=SOURCES)
    try:
        adapter.hello()
        yield ClientSession(target=target, adapter=adapter)
    finally:
        adapter.close()


def result_of(response: Line) -> Line:
    """Return the result in a line of the adapter; raises ClientError without one."""
    assert "unsupported" not in response, response
    if "error" in response:
        raise ClientError(response["error"])
    found: Line = response["result"]
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

"""
The application around the client under test, driven through the adapter.

A feature that the client lacks makes the test unsupported.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.client.calls import Call, CallOutcome, outcome_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import PATIENCE_S
from conformance.harness.blocked.skips import unsupported
from conformance.harness.process.deadline import TooLateError
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.targets.client_adapter import (
    Adapter,
    AdapterError,
    Line,
    ResponseFuture,
)
from conformance.harness.targets.client_hello import OPTION_INTERVALS

UNHURRIED_MS = 30_000
"""The timeout of sends whose time does not matter."""
START_TIMEOUT_S = 40.0
"""Time in which a producer or consumer starts, on a busy machine."""
DEFAULT_LOCK_INTERVALS = {"lock_ms": 20_000, "lock_lives_ms": 30_000}
"""Lock intervals of a client whose hello does not contain them: defaults of Java."""
_names = itertools.count(1)


@dataclass(slots=True, kw_only=True)
class Application:
    """Starts producers and consumers, and stops them after the test."""

    adapter: Adapter
    features: frozenset[str]
    intervals: dict[str, int]
    cluster: ScriptedCluster
    first_response: int = 0
    """Number of responses of the adapter before the running test."""
    _made: list[str] = field(default_factory=list)
    _held: list[Line] = field(default_factory=list)
    """Messages that a listener holds: the consumer and the keys."""

    def has_unsupported_response(self) -> bool:
        """Return whether the client lacks something that the running test needs."""
        return any("unsupported" in response for response in self._responses())

    def end_without_verdict(self) -> None:
        """End the running test if a response to it is no outcome of the client."""
        for response in self._responses():
            outcome_of(response)

    def _responses(self) -> list[Line]:
        """Return the adapter's responses in the running test."""
        return list(self.adapter.responses.values())[self.first_response :]

    def need(self, *features: str) -> None:
        """Make the running test unsupported if the client lacks one of *features*."""
        lacking = [one for one in features if one not in self.features]
        if lacking:
            unsupported(f"the client has not: {', '.join(lacking)}")

    def need_adjustable(self, interval: str) -> None:
        """Make the running test unsupported if the client has no option for it."""
        if interval in self.intervals:
            unsupported(f"the client has no option for {interval}")

    def interval(self, name: str) -> int:
        """Return the milliseconds of an interval that the client has for itself."""
        return self.intervals.get(name, DEFAULT_LOCK_INTERVALS[name])

    def producer(self, *, group: str | None = None, **options: object) -> Producer:
        """Return a started producer; *options* are those of an adapter's line."""
        given = {"send_timeout_ms": UNHURRIED_MS, **options}
        given = {name: value for name, value in given.items() if value is not None}
        group = group or unique_name("group")
        name = self._start("producer", group=group, options=self._adjustable(given))
        return Producer(application=self, name=name, group=group)

    def consumer(
        self, topic: str, *, group: str | None = None, **given: Any
    ) -> Consumer:
        """Return a started push consumer of *topic*."""
        group = group or unique_name("group")
        line = self._consumer_line(topic, group, given)
        name = self._start("consumer", **line)
        return Consumer(application=self, name=name, group=group)

    def pull_consumer(self) -> PullConsumer:
        """Return a started pull consumer."""
        self.need("pull")
        group = unique_name("group")
        name = self._start("consumer", kind="pull", group=group)
        return PullConsumer(application=self, name=name, group=group)

    def try_consumer(self, topic: str, **given: Any) -> CallOutcome:
        """Try to start a push consumer; return the outcome."""
        line = self._consumer_line(topic, unique_name("group"), given)
        return self._try("consumer", **line)[1]

    def _consumer_line(self, topic: str, group: str, given: Any) -> Line:
        """Return the line that starts a push consumer as *given*."""
        self.need("push")
        if given.get("order") == "orderly":
            self.need("orderly")
        if given.get("model") == "broadcasting":
            self.need("broadcast")
        subscription = {"topic": topic, "expression": given.pop("expression", "*")}
        if "type" in given:
            subscription["type"] = given.pop("type")
        if "options" in given:
            given["options"] = self._adjustable(given["options"])
        return {
            "kind": "push",
            "group": group,
            "model": "clustering",
            "order": "concurrent",
            "from": "first",
            "subscriptions": [subscription],
            **given,
        }

    def _adjustable(self, options: Line) -> Line:
        """Return *options* without those that are fixed intervals of the client."""
        fixed = OPTION_INTERVALS & self.intervals.keys()
        return {name: value for name, value in options.items() if name not in fixed}

    def _start(self, verb: str, **fields: Any) -> str:
        name, outcome = self._try(verb, **fields)
        if outcome.error is not None:
            raise AdapterError(f"{verb} {fields}: {outcome.error.get('text')}")
        return name

    def _try(self, verb: str, **fields: Any) -> tuple[str, CallOutcome]:
        name = f"{verb}-{next(_names)}"
        pending = self.adapter.call(
            verb, name=name, namesrv=self.cluster.namesrv, **fields
        )
        outcome = outcome_of(pending.wait(START_TIMEOUT_S))
        self._made.append(name)
        for keys, words in fields.get("outcomes", {}).items():
            self._held += [{"consumer": name, "keys": keys}] * words.count("hold")
        return name, outcome

    def stop(self, name: str) -> ResponseFuture:
        """Begin to stop a producer or consumer."""
        if name in self._made:
            self._made.remove(name)
        return self.adapter.call("stop", name=name)

    def close(self) -> None:
        """Stop all producers and consumers."""
        for pending in [self.stop(name) for name in list(self._made)]:
            try:
                pending.wait(2 * PATIENCE_S)
            except AdapterError:  # the next test gets another adapter
                self.adapter.close()
                raise
        # Calls of a listener may have threads that all consumers of a client share.
        for held in self._held:
            if self.adapter.running:
                self.adapter.call("release", **held)


@dataclass(frozen=True, slots=True, kw_only=True)
class Producer:
    """A producer of the client under test."""

    application: Application
    name: str
    group: str

    def begin(self, topic: str, body: bytes | None = b"hello", **given: Any) -> Call:
        """Begin to send a message; *given* are fields of the line or the message."""
        fields = _split(given)
        self.application.need(*_features(fields))
        message: Line = {"topic": topic, **given}
        if body is not None:
            message["body"] = base64.b64encode(body).decode()
        if "messages" not in fields:
            fields["message"] = message
        pending = self.application.adapter.call("send", producer=self.name, **fields)
        return Call(pending)

    def send(
        self, topic: str, body: bytes | None = b"hello", **given: Any
    ) -> CallOutcome:
        """Send a message and wait for the outcome."""
        return self.begin(topic, body, **given).outcome()

    def request(
        self, topic: str, *, timeout_ms: int, lane: str = "0", **given: Any
    ) -> Call:
        """Begin to send a request."""
        self.application.need("request", "lanes")
        body = base64.b64encode(b"?").decode()
        pending = self.application.adapter.call(
            "request",
            producer=self.name,
            message={"topic": topic, "body": body, **given},
            timeout_ms=timeout_ms,
            lane=lane,
        )
        return Call(pending)

    def reply(self, properties: Mapping[str, str], body: bytes) -> CallOutcome:
        """Reply to the message with these *properties*."""
        self.application.need("reply")
        pending = self.application.adapter.call(
            "reply",
            producer=self.name,
            properties=dict(properties),
            body=base64.b64encode(body).decode(),
        )
        return Call(pending).outcome()

    def send_batch(self, topic: str, *bodies: bytes, **given: Any) -> CallOutcome:
        """Send messages in one request."""
        messages = [
            {"topic": topic, "body": base64.b64encode(body).decode()} for body in bodies
        ]
        return self.send(topic, messages=messages, **given)

    def stop(self) -> None:
        """Shut the producer down."""
        self.application.stop(self.name).wait(2 * PATIENCE_S)


LINE_FIELDS = {"mode", "messages", "select", "transaction", "timeout_ms", "lane"}


def _split(given: dict[str, Any]) -> dict[str, Any]:
    """Take the fields of a line out of *given*, and return them."""
    return {
        "mode": "sync",
        **{name: given.pop(name) for name in LINE_FIELDS & given.keys()},
    }


def _features(fields: dict[str, Any]) -> list[str]:
    """Return the features that a line needs."""
    words = {"messages": "batch", "lane": "lanes", "select": "select"}
    needed = [word for name, word in words.items() if name in fields]
    needed += ["transaction"] if "transaction" in fields else []
    return [*needed, str(fields["mode"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """A push consumer of the client under test."""

    application: Application
    name: str
    group: str

    def messages(self) -> list[Line]:
        """Return the messages delivered to the listener."""
        found = list(self.application.adapter.events)
        return [
            one["message"]
            for one in found
            if one["event"] == "message" and one.get("consumer") == self.name
        ]

    def wait_for(
        self,
        count: int = 1,
        *,
        where: Callable[[Line], bool] = lambda _: True,
        timeout_s: float = PATIENCE_S,
    ) -> list[Line]:
        """Wait for *count* delivered messages."""

        def found() -> list[Line]:
            return [one for one in self.messages() if where(one)]

        try:
            self.application.adapter.wait_until(
                lambda: len(found()) >= count, what="messages", timeout_s=timeout_s
            )
        except AdapterError:
            if not self.application.adapter.running:
                raise
            what = f"{count} messages were delivered"
            raise TooLateError(what, timeout_s, f"{len(found())} of them") from None
        return found()[:count]

    def release(self, keys: str) -> None:
        """End the listener's call that holds the message of these keys."""
        pending = self.application.adapter.call(
            "release", consumer=self.name, keys=keys
        )
        pending.wait()

    def stop(self) -> None:
        """Shut the consumer down."""
        self.application.stop(self.name).wait(2 * PATIENCE_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class PullConsumer:
    """A pull consumer of the client under test."""

    application: Application
    name: str
    group: str

    def pull(self, queue: Line, *, offset: int, **given: object) -> CallOutcome:
        """Pull from *queue* and wait for the outcome."""
        line = {"expression": "*", "count": 32, **given, "offset": str(offset)}
        return self.invoke("pull", queue=queue, **line)

    def invoke(self, verb: str, **given: object) -> CallOutcome:
        """Run a verb of pull consumers."""
        adapter = self.application.adapter
        pending = adapter.call(verb, consumer=self.name, **given)
        return Call(pending).outcome()

"""
What Java's client calls back, written in Python: the listeners of the features.

Each class names the Java interface that it stands for; its methods have Java's names.
They keep what they are told and are asked by the thread that runs the feature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

CLIENT = "org.apache.rocketmq.client"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A message as a client showed it."""

    body: bytes
    topic: str
    tags: str | None
    keys: str | None
    own: str | None
    """The property that our messages have of their own."""
    queue: int
    offset: int
    tries: int
    """How often it had been given back (Java: reconsumeTimes)."""
    stored_size: int
    properties: dict[str, str]

    @property
    def text(self) -> str:
        """The body, of which no more than its first characters are shown."""
        return self.body.decode()[:20]


def received(message: Any) -> Received:
    """Return what a Java message says."""
    properties = message.getProperties()
    return Received(
        body=bytes(message.getBody()),
        topic=message.getTopic(),
        tags=message.getTags(),
        keys=message.getKeys(),
        own=message.getUserProperty("own"),
        queue=message.getQueueId(),
        offset=message.getQueueOffset(),
        tries=message.getReconsumeTimes(),
        stored_size=message.getStoreSize(),
        properties={str(name): str(properties[name]) for name in properties},
    )


Take = Callable[[Any], bool]
"""Takes a Java message and says whether it is done with."""


class ConcurrentListener:
    """Hands over each message, in no order."""

    def __init__(self, take: Take, *, done: Any, later: Any) -> None:
        self._take, self._done, self._later = take, done, later

    def consumeMessage(self, messages: Any, _: Any) -> Any:  # noqa: N802
        """Take the messages; one that is refused is delivered again, later."""
        taken = [self._take(message) for message in messages]
        return self._done if all(taken) else self._later

    class Java:
        """Which interface it is."""

        implements: ClassVar = [
            f"{CLIENT}.consumer.listener.MessageListenerConcurrently"
        ]


class OrderedListener(ConcurrentListener):
    """Hands over each message, in the order of its queue."""

    class Java:
        """Which interface it is."""

        implements: ClassVar = [f"{CLIENT}.consumer.listener.MessageListenerOrderly"]


class SendListener:
    """Keeps what became of messages that were sent without waiting."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []

    def onSuccess(self, sent: Any) -> None:  # noqa: N802
        """Keep the status that the broker gave."""
        self.outcomes.append(str(sent.getSendStatus()))

    def onException(self, error: Any) -> None:  # noqa: N802
        """Keep the kind of failure."""
        self.outcomes.append(str(error.getClass().getSimpleName()))

    class Java:
        """Which interface it is."""

        implements: ClassVar = [f"{CLIENT}.producer.SendCallback"]


class RequestListener:
    """Keeps the replies to requests."""

    def __init__(self) -> None:
        self.replies: list[str] = []

    def onSuccess(self, reply: Any) -> None:  # noqa: N802
        """Keep the body of the reply."""
        self.replies.append(bytes(reply.getBody()).decode())

    def onException(self, error: Any) -> None:  # noqa: N802
        """Keep the kind of failure."""
        self.replies.append(str(error.getClass().getSimpleName()))

    class Java:
        """Which interface it is."""

        implements: ClassVar = [f"{CLIENT}.producer.RequestCallback"]


class Decider:
    """Decides transactions: at once as the body says, or when it is asked."""

    def __init__(self, states: Any) -> None:
        self._states = states
        self.asked: list[str] = []
        """The bodies of the messages that the broker asked about."""

    def executeLocalTransaction(self, message: Any, _: Any) -> Any:  # noqa: N802
        """Return what the first word of the body says."""
        first = bytes(message.getBody()).decode().split()[0]
        if first == "commit":
            return self._states.COMMIT_MESSAGE
        return self._states.ROLLBACK_MESSAGE if first == "roll" else self._states.UNKNOW

    def checkLocalTransaction(self, message: Any) -> Any:  # noqa: N802
        """Return what the last word of the body says."""
        body = bytes(message.getBody()).decode()
        self.asked.append(body)
        if body.endswith("commit"):
            return self._states.COMMIT_MESSAGE
        return self._states.ROLLBACK_MESSAGE

    class Java:
        """Which interface it is."""

        implements: ClassVar = [f"{CLIENT}.producer.TransactionListener"]

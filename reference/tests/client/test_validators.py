"""Messages that a producer refuses before it sends a request."""

from __future__ import annotations

import pytest

from reference.core.client.message import Message
from reference.core.client.remoting.errors import ClientError, Reason
from reference.core.client.validators import (
    check_batch,
    check_message,
    check_name,
)

MESSAGE_ILLEGAL = 13


def message(topic: str = "TopicTest", body: bytes = b"x", **properties: str) -> Message:
    return Message(topic=topic, body=body, properties=properties)


@pytest.mark.parametrize("topic", ["T", "a-b_c", "%RETRY%group", "a|b", "x" * 255])
def test_these_topics_may_be_sent_to(topic: str) -> None:
    check_message(message(topic))


@pytest.mark.parametrize(
    "topic", ["", "  ", "a b", "a.b", "é", "T\n", "x" * 256, "TBW102"]
)
def test_these_topics_may_not(topic: str) -> None:
    with pytest.raises(ClientError) as error:
        check_message(message(topic))
    assert error.value.failure.reason is Reason.ILLEGAL
    assert error.value.failure.code is None


@pytest.mark.parametrize(
    "batch",
    [
        [],
        [message("A"), message("B")],
        [message("%RETRY%g")],
        [message(DELAY="1")],
        [message(WAIT="true"), message(WAIT="false")],
        [message(), message(body=b"")],
    ],
)
def test_a_batch_is_uniform(batch: list[Message]) -> None:
    with pytest.raises(ClientError):
        check_batch(batch)


def test_a_batch_may_say_aloud_that_it_waits() -> None:
    check_batch([message(), message(WAIT="true"), message(DELAY="0")])


def test_a_group_has_a_name() -> None:
    check_name("group", "group-1")
    for name in ("", "a b", "x" * 256):
        with pytest.raises(ClientError):
            check_name("group", name)

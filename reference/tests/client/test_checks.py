"""Messages that a producer refuses before it sends a request."""

from __future__ import annotations

import pytest

from reference.core.client.message import Message
from reference.core.client.remoting.errors import ClientError, Reason
from reference.core.client.validators import (
    check_batch,
    check_group,
    check_message,
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


def test_a_body_may_have_one_byte_and_as_many_as_the_limit() -> None:
    check_message(message(body=b"x"))
    check_message(message(body=bytes(10)), body_size_max=10)


@pytest.mark.parametrize("size", [0, 11])
def test_a_body_may_not_be_empty_or_over_the_limit(size: int) -> None:
    with pytest.raises(ClientError) as error:
        check_message(message(body=bytes(size)), body_size_max=10)
    assert error.value.failure.code == MESSAGE_ILLEGAL


def test_the_limit_is_four_mebibytes() -> None:
    check_message(message(body=bytes(4_194_304)))
    with pytest.raises(ClientError):
        check_message(message(body=bytes(4_194_305)))


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
    check_group("group-1")
    for name in ("", "a b", "x" * 256):
        with pytest.raises(ClientError):
            check_group(name)

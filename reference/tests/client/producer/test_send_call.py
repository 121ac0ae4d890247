"""Failures that cause a retry, and the time limit of all attempts."""

from __future__ import annotations

import pytest

from reference.core.client.message import Message, MessageQueue, Mode
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.send_call import Attempt, SendCall
from reference.core.client.producer.send_request import prepare_message
from reference.core.client.remoting.errors import Failure, Reason

OPTIONS = ProducerOptions(group="g")
MESSAGE = prepare_message(Message(topic="T", body=b"x"), "KEY", compress_from=4096)


def call_of(mode: Mode, *, tried: int, is_selected: bool = False) -> SendCall:
    """Return a send after *tried* attempts."""
    selected = MessageQueue("T", "a", 0)
    return SendCall(
        message=MESSAGE,
        mode=mode,
        selector=(lambda _queues: selected) if is_selected else None,
        begun_ms=0,
        timeout_ms=3000,
        attempts=[Attempt(queue=selected, begun_ms=0)] * tried,
    )


def is_retried(
    mode: Mode, failure: Failure, *, tried: int = 1, is_selected: bool = False
) -> bool:
    call = call_of(mode, tried=tried, is_selected=is_selected)
    return call.is_retried(failure, OPTIONS)


def refused(code: int) -> Failure:
    return Failure(reason=Reason.REFUSED, code=code)


@pytest.mark.parametrize(
    "reason", [Reason.CONNECT, Reason.LOST, Reason.TIMEOUT, Reason.NO_BROKER]
)
def test_a_synchronous_send_is_tried_three_times(reason: Reason) -> None:
    failure = Failure(reason=reason)
    assert [is_retried(Mode.SYNC, failure, tried=n) for n in (1, 2, 3)] == [
        True,
        True,
        False,
    ]


def test_an_asynchronous_send_goes_on_only_without_an_answer() -> None:
    assert is_retried(Mode.ASYNC, Failure(reason=Reason.TIMEOUT), tried=2)
    assert not is_retried(Mode.ASYNC, Failure(reason=Reason.TIMEOUT), tried=3)
    assert not is_retried(Mode.ASYNC, refused(1), tried=1)


def test_an_asynchronous_send_that_cannot_connect_first_has_failed() -> None:
    failure = Failure(reason=Reason.CONNECT)
    assert not is_retried(Mode.ASYNC, failure, tried=1)
    assert is_retried(Mode.ASYNC, failure, tried=2)


@pytest.mark.parametrize("reason", list(Reason))
def test_a_oneway_send_is_never_repeated(reason: Reason) -> None:
    assert not is_retried(Mode.ONEWAY, Failure(reason=reason, code=1), tried=1)


def test_a_chosen_queue_is_not_left() -> None:
    failure = Failure(reason=Reason.TIMEOUT)
    assert not is_retried(Mode.SYNC, failure, tried=1, is_selected=True)
    assert is_retried(Mode.ASYNC, failure, tried=1, is_selected=True)


def test_attempts_share_the_time_of_a_synchronous_call() -> None:
    call = call_of(Mode.SYNC, tried=2)
    left = [call.attempt_timeout_ms(now_ms) for now_ms in (0, 1, 3000, 3001)]
    assert left == [3000, 2999, 0, 0]


def test_an_asynchronous_retry_has_one_second() -> None:
    assert call_of(Mode.ASYNC, tried=1).attempt_timeout_ms(0) == 4000
    assert call_of(Mode.ASYNC, tried=2).attempt_timeout_ms(4000) == 1000

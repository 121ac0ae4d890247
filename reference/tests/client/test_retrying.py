"""Failures that cause a retry, and the time limit of all attempts."""

from __future__ import annotations

import pytest

from reference.core.client.message import Mode
from reference.core.client.producer.retry import attempt_timeout_ms, retries
from reference.core.client.remoting.errors import Failure, Reason


def refused(code: int) -> Failure:
    return Failure(reason=Reason.REFUSED, code=code)


@pytest.mark.parametrize("code", [1, 14, 16, 17, 204, 205])
def test_a_synchronous_send_goes_on_after_these_codes(code: int) -> None:
    assert retries(Mode.SYNC, refused(code), tried=1)


@pytest.mark.parametrize("code", [2, 3, 13, 15, 18, 24, 26])
def test_a_synchronous_send_ends_with_any_other_code(code: int) -> None:
    assert not retries(Mode.SYNC, refused(code), tried=1)


@pytest.mark.parametrize(
    "reason", [Reason.CONNECT, Reason.LOST, Reason.TIMEOUT, Reason.NO_BROKER]
)
def test_a_synchronous_send_is_tried_three_times(reason: Reason) -> None:
    failure = Failure(reason=reason)
    assert [retries(Mode.SYNC, failure, tried=n) for n in (1, 2, 3)] == [
        True,
        True,
        False,
    ]


def test_an_asynchronous_send_goes_on_only_without_an_answer() -> None:
    assert retries(Mode.ASYNC, Failure(reason=Reason.TIMEOUT), tried=2)
    assert not retries(Mode.ASYNC, Failure(reason=Reason.TIMEOUT), tried=3)
    assert not retries(Mode.ASYNC, refused(1), tried=1)


def test_an_asynchronous_send_that_cannot_connect_first_has_failed() -> None:
    failure = Failure(reason=Reason.CONNECT)
    assert not retries(Mode.ASYNC, failure, tried=1)
    assert retries(Mode.ASYNC, failure, tried=2)


@pytest.mark.parametrize("reason", list(Reason))
def test_a_oneway_send_is_never_repeated(reason: Reason) -> None:
    assert not retries(Mode.ONEWAY, Failure(reason=reason, code=1), tried=1)


def test_a_chosen_queue_is_not_left() -> None:
    failure = Failure(reason=Reason.TIMEOUT)
    assert not retries(Mode.SYNC, failure, tried=1, is_selected=True)
    assert retries(Mode.ASYNC, failure, tried=1, is_selected=True)


def test_attempts_share_the_time_of_a_synchronous_call() -> None:
    left = [
        attempt_timeout_ms(Mode.SYNC, 3000, spent_ms=spent_ms, tried=1)
        for spent_ms in (0, 1, 3000, 3001)
    ]
    assert left == [3000, 2999, 0, 0]


def test_an_asynchronous_retry_has_one_second() -> None:
    assert attempt_timeout_ms(Mode.ASYNC, 3000, spent_ms=0, tried=0) == 4000
    assert attempt_timeout_ms(Mode.ASYNC, 3000, spent_ms=4000, tried=1) == 1000

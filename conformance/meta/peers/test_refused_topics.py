"""A target that refuses every unknown topic does not fail the clause about a name."""

from __future__ import annotations

from unittest import mock

import pytest

from conformance.harness.client.client import Client
from conformance.harness.client.transcript import Transcript
from conformance.harness.failure.failure import ConformanceFailure
from conformance.messaging.send.refused_topic import expect_refused_topic
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

TOO_LONG, NOT_EXIST = ResponseCode.INVALID_PARAMETER, ResponseCode.TOPIC_NOT_EXIST


def broker_refusing(code: ResponseCode) -> mock.Mock:
    """Return a client whose sends to unknown topics get *code*."""
    other = mock.MagicMock(spec=Client)
    other.__enter__.return_value = other
    other.send_message.return_value = Command(code=code, remark="no message type")
    broker = mock.Mock(spec=Client, another=mock.Mock(return_value=other))
    broker.transcript = Transcript("127.0.0.1:1")
    return broker


def check(answered: ResponseCode, unknown: ResponseCode) -> None:
    """Check a response to a long topic, beside the one to an unknown topic."""
    response, broker = Command(code=answered), broker_refusing(unknown)
    expect_refused_topic("SEND-TOPIC-004", broker, response, TOO_LONG)


def test_the_same_refusal_of_any_unknown_topic_blocks() -> None:
    with pytest.raises(pytest.skip.Exception, match=r"by SEND-TOPIC-005, .* 17"):
        check(NOT_EXIST, NOT_EXIST)


@pytest.mark.parametrize(
    ("answered", "unknown"),
    [(NOT_EXIST, ResponseCode.SUCCESS), (ResponseCode.SUCCESS, ResponseCode.SUCCESS)],
)
def test_another_response_fails_the_clause(
    answered: ResponseCode, unknown: ResponseCode
) -> None:
    with pytest.raises(ConformanceFailure, match="SEND-TOPIC-004"):
        check(answered, unknown)


def test_the_expected_refusal_needs_no_second_send() -> None:
    check(TOO_LONG, NOT_EXIST)

"""A body that cannot be read is a request that fails, and no more than that."""

from __future__ import annotations

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_that,
)
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

WITH_A_BODY = (
    RequestCode.HEART_BEAT,
    RequestCode.LOCK_BATCH_MQ,
    RequestCode.UNLOCK_BATCH_MQ,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
)


@pytest.mark.clause("WIRE-COMMAND-009")
@pytest.mark.parametrize("body", [b"{", b"hello", b'{"a":'])
@pytest.mark.parametrize("code", WITH_A_BODY, ids=lambda code: code.name.lower())
def test_a_body_that_is_no_json_is_answered(
    broker: Client, code: RequestCode, body: bytes
) -> None:
    response = broker.peer.request(Command(code=code, body=body))
    is_guarded = broker.peer.access.credentials is not None
    if is_guarded and response.code == ResponseCode.NO_PERMISSION:
        unsupported("the broker reads bodies to check access, and refuses this one")
    transcript = broker.transcript
    clause = "WIRE-COMMAND-009"
    expect_code(clause, response, ResponseCode.SYSTEM_ERROR, transcript)
    expect_that(
        clause,
        bool(response.remark),
        found=response.remark,
        expected="some words",
        what="remark",
        transcript=transcript,
    )
    command = Command(
        code=RequestCode.GET_MAX_OFFSET, fields={"topic": "t", "queueId": "0"}
    )
    expect(
        clause,
        found=broker.peer.request(command).code,
        expected=ResponseCode.SUCCESS,
        what="code of what is asked next on the connection",
        transcript=transcript,
    )

"""
Refusal of a topic for its name or default topic, apart from that of any unknown topic.

A proxy refuses a send to each topic without a message type, in place of creating it.
"""

from __future__ import annotations

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.expectations import expect_code
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode


def expect_refused_topic(
    clause_id: str, broker: Client, response: Command, code: ResponseCode
) -> None:
    """Fail *clause_id* unless *response*, to a send to an unknown topic, has *code*.

    The running test is blocked where a send to an unknown topic of a valid name, whose
    default topic exists, gets the same error response.
    """
    if response.code not in (code, ResponseCode.SUCCESS):
        with broker.another() as other:
            plain = other.send_message(topic=unique_name("unknown"))
        if plain.code == response.code:
            remark = f"refused with code {plain.code}: {plain.remark}"
            blocked(f"blocked by SEND-TOPIC-005, a send to an unknown topic: {remark}")
    expect_code(clause_id, response, code, broker.transcript)

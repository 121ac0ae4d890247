"""Expectations about the reason of a refusal."""

from __future__ import annotations

from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.expectations import expect
from conformance.security.guard import Guard
from spec.security.plain_acl import NO_PERMISSION
from spec.security.signature import Credentials
from spec.wire.remoting.command import Command


def expect_reason(
    clause: str, guard: Guard, client: Client, answer: Command, reason: str
) -> None:
    """Fail *clause* unless *answer* is a refusal for *reason*; none if empty."""
    expect(
        clause,
        found=guard.reason(answer),
        expected=reason,
        what="reason of the refusal",
        transcript=client.transcript,
    )


def expect_send(
    clause: str, guard: Guard, account: Credentials, topic: str, *, is_admitted: bool
) -> None:
    """Fail *clause* unless a send to *topic* is admitted, or refused for the topic."""
    with guard.client(account) as client:
        answer = client.send_message(topic=topic)
        refused = NO_PERMISSION.format(resource=f"topic:{topic}")
        reason = "" if is_admitted else refused
        expect_reason(clause, guard, client, answer, reason)

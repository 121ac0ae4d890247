"""
Reasons of refusals: of one request, of a send, and of the acts of a user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from conformance.harness.client.address import LOOPBACK
from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.expectations import expect
from conformance.security.guard import Guard
from spec.security.plain_acl import NO_PERMISSION
from spec.security.policies import NO_POLICY
from spec.security.signature import Credentials
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

Act: TypeAlias = Callable[[Client], Command]


def expect_reason(
    clause: str, guard: Guard, client: Client, response: Command, reason: str
) -> None:
    """Fail *clause* unless *response* is a refusal for *reason*; none if empty."""
    expect(
        clause,
        found=guard.reason(response),
        expected=reason,
        what="reason of the refusal",
        transcript=client.transcript,
    )


def expect_send(
    clause: str, guard: Guard, account: Credentials, topic: str, *, is_admitted: bool
) -> None:
    """Fail *clause* unless a send to *topic* is admitted, or refused for the topic."""
    with guard.client(account) as client:
        response = client.send_message(topic=topic)
        refused = NO_PERMISSION.format(resource=f"topic:{topic}")
        reason = "" if is_admitted else refused
        expect_reason(clause, guard, client, response, reason)


def reason_for(guard: Guard, user: Credentials, act: Act, source: str = "") -> str:
    """Return the reason for which *act* of *user* is refused; empty if admitted."""
    with guard.client(user, source) as client:
        return guard.reason(act(client))


def send(topic: str, code: int = RequestCode.SEND_MESSAGE_V2) -> Act:
    """Return a send to *topic*."""
    return lambda one: one.send_message(topic=topic, code=code)


def no_policy(user: Credentials, resource: str) -> str:
    """Return the reason for a resource without a matching entry."""
    return NO_POLICY.format(
        username=user.access_key, resource=resource, address=LOOPBACK
    )


def expect_acts(
    clause: str, guard: Guard, user: Credentials, acts: Sequence[tuple[Act, str]]
) -> None:
    """Fail *clause* unless each act is admitted, or lacks an entry for its resource."""
    found = [reason_for(guard, user, act) for act, _ in acts]
    expected = [no_policy(user, name) if name else "" for _, name in acts]
    expect(clause, found=found, expected=expected, what="reasons")

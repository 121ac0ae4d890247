"""
Why a client's feature does not end as it is to: each by a clause or by a source.

A reason holds for clients, features and servers, and only for the outcome that it is
about. What no reason explains is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.interop.handover.handover import release_of
from conformance.interop.programs.cell import Cell, release_of_client
from spec.clause import release_key
from spec.registry import clause


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why some cells end otherwise."""

    text: str
    """Explanation for the reader of the table."""
    clauses: tuple[str, ...] = ()
    source: str = ""
    """Place in the client's own code, for behaviour of the client alone."""
    holds: Callable[[Cell], bool]


def reason_for(cell: Cell) -> Reason | None:
    """Return why a cell is not as expected; None if nothing explains it."""
    return next((reason for reason in REASONS if reason.holds(cell)), None)


def _is_new_client(cell: Cell) -> bool:
    release = release_of_client(cell.client)
    return release is not None and release_key(release) >= (5,)


def _unknown_code(feature: str, outcome: object) -> Callable[[Cell], bool]:
    """Return a test for a new client that sends a new request code to an old server."""

    def holds(cell: Cell) -> bool:
        return (
            (cell.feature, cell.outcome) == (feature, outcome)
            and _is_new_client(cell)
            and clause("WIRE-CONN-002").applies_to(release_of(cell.server))
        )

    return holds


def _reply_too_late(cell: Cell) -> bool:
    return (
        cell.feature == "request and reply"
        and _is_new_client(cell)
        and "timeout" in cell.outcome
    )


def _empty_batch(cell: Cell) -> bool:
    return (cell.client, cell.feature, cell.outcome) == (
        *("C++", "batch send"),
        {"sent": ["OK"], "received": [""]},
    )


REASONS = (
    Reason(
        text="A consumer of 5.x that polls pulls with LITE_PULL_MESSAGE (361), a code"
        " of 5.0: servers before 4.9.1 leave it unanswered.",
        clauses=("WIRE-CONN-002",),
        source="5.3.3 org.apache.rocketmq.client.impl.MQClientAPIImpl#pullMessage",
        holds=_unknown_code("lite pull", {"subscribed": [], "sought": []}),
    ),
    Reason(
        text="Tools of 5.x first get the topic's settings with GET_TOPIC_CONFIG"
        " (351), a code of 5.0: servers before 4.9.1 leave it unanswered.",
        clauses=("WIRE-CONN-002",),
        source="5.3.3 org.apache.rocketmq.tools.admin.MQAdminUtils"
        "#examineTopicConfigFromRoute",
        holds=_unknown_code(
            "statistics",
            {
                "queues": "RemotingTimeoutException",
                "behind by": "RemotingTimeoutException",
            },
        ),
    ),
    Reason(
        text="A request of the 5.3.3 client that waits for its reply ends as soon as"
        " the request has been sent, with a time-out, unless the reply was faster;"
        " the same with a callback works.",
        source="5.3.3 org.apache.rocketmq.client.producer.RequestResponseFuture"
        "#acquireCountDownLatch",
        holds=_reply_too_late,
    ),
    Reason(
        text="The C++ client sends the encoded batch as the body of one ordinary"
        " message, and brokers take it for that.",
        source="seen with send_batch of rocketmq 0.4.4 of PyPI",
        holds=_empty_batch,
    ),
)

"""
A held pull request, and the states it passes through.

A pull that finds nothing new is held at its queue. It is tried again when a message
arrives, when its queue has grown, and at its deadline. That second try is always
answered.
"""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct

from reference.core.broker.filter.subscription import Subscription
from reference.core.remoting.request import Request
from reference.core.state_machine import StateMachine, Transition
from spec.wire.headers.request_headers import PullMessageRequestHeader


class PullState(Enum):
    """States of a pull request."""

    RECEIVED = auto()
    """Not tried yet. Only this first try may end without a response."""
    HELD = auto()
    """Nothing new was found.

    The request waits here, so that its client need not poll.
    """
    RESPONDED = auto()
    """The response was sent.

    Arrival and deadline of one request must not both respond.
    """
    DROPPED = auto()
    """The connection is closed. A try would read messages for a client that is gone."""


class PullEvent(Enum):
    """Events in the life of a pull request."""

    NOTHING_NEW = auto()
    RESPONSE_READY = auto()
    """The first try has a response: messages, an offset that moved, or a retry."""
    MESSAGE_ARRIVED = auto()
    QUEUE_GREW = auto()
    DEADLINE = auto()
    CONNECTION_LOST = auto()


S, E, Row = PullState, PullEvent, Transition[PullState, PullEvent]
PULL_TRANSITIONS = StateMachine(
    "pull request (long polling)",
    initial=S.RECEIVED,
    transitions=[
        Row(S.RECEIVED, E.RESPONSE_READY, S.RESPONDED),
        Row(S.RECEIVED, E.NOTHING_NEW, S.HELD, "FLAG_SUSPEND is set"),
        Row(S.HELD, E.MESSAGE_ARRIVED, S.RESPONDED, "the subscription selects it"),
        Row(S.HELD, E.QUEUE_GREW, S.RESPONDED, "every 5 s"),
        Row(S.HELD, E.DEADLINE, S.RESPONDED),
        Row(S.HELD, E.CONNECTION_LOST, S.DROPPED),
    ],
)


class Pull(Struct, kw_only=True):
    """A pull request from its first check to its response."""

    request: Request
    header: PullMessageRequestHeader
    subscription: Subscription
    """The request's own, or that of the group's heartbeat at the last try."""
    deadline_ms: int
    state: PullState = PULL_TRANSITIONS.initial

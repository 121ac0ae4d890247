"""
States of the connection between a master and a slave, seen from either end.

The slave speaks first: it reports the end of its commit log, and the master answers
with transfers from there on (4.6.0 HAService.HAClient, HAConnection).
"""

from __future__ import annotations

from enum import Enum, auto

from reference.core.state_machine import StateMachine, Transition


class HAState(Enum):
    """States of either end of a connection."""

    READY = auto()
    """Without a connection. A pause keeps a slave from flooding a dead master."""
    CONNECTING = auto()
    """A connect is under way. A second one would append to the same log twice."""
    HANDSHAKE = auto()
    """The slave has not reported its offset.

    Until then the master sends nothing: the slave could not append it.
    """
    TRANSFER = auto()
    """Both ends have the same next offset.

    Pieces follow each other without waiting, and a report only shows progress.
    """
    SHUTDOWN = auto()
    """Closed for good.

    The log of the slave may change meanwhile, so the next connection begins with its
    own handshake.
    """


class HAEvent(Enum):
    """Events at either end of a connection."""

    CONNECT = auto()
    CONNECT_FAILED = auto()
    CONNECTED = auto()
    OFFSET_REPORTED = auto()
    TRANSFER_APPENDED = auto()
    CLOSED = auto()


S, E, Row = HAState, HAEvent, Transition[HAState, HAEvent]


def _closed(state: HAState, after: HAState) -> Transition[HAState, HAEvent]:
    note = "by the peer, after silence or a wrong offset"
    return Transition(state, HAEvent.CLOSED, after, note)


MASTER_END_TRANSITIONS = StateMachine(
    "HA connection, master",
    initial=S.HANDSHAKE,
    transitions=[
        Row(S.HANDSHAKE, E.OFFSET_REPORTED, S.TRANSFER, "end of its log"),
        Row(S.TRANSFER, E.OFFSET_REPORTED, S.TRANSFER),
        _closed(S.HANDSHAKE, S.SHUTDOWN),
        _closed(S.TRANSFER, S.SHUTDOWN),
    ],
)
SLAVE_END_TRANSITIONS = StateMachine(
    "HA connection, slave",
    initial=S.READY,
    transitions=[
        Row(S.READY, E.CONNECT, S.CONNECTING),
        Row(S.CONNECTING, E.CONNECT_FAILED, S.READY, "again after 5 s"),
        Row(S.CONNECTING, E.CONNECTED, S.TRANSFER, "report the end of the log"),
        Row(S.TRANSFER, E.TRANSFER_APPENDED, S.TRANSFER, "report the end of the log"),
        _closed(S.TRANSFER, S.READY),
    ],
)

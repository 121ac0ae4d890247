"""Transition tables: allowed and refused events, and the diagram."""

from enum import Enum, auto
from pathlib import Path

import pytest

from reference import state_diagrams
from reference.core.state_machine import StateMachine, Transition, TransitionError


class Door(Enum):
    """States of the example."""

    OPEN = auto()
    CLOSED = auto()
    BROKEN = auto()


class Push(Enum):
    """Events of the example."""

    SOFT = auto()
    HARD = auto()


DOOR = StateMachine(
    "door",
    initial=Door.OPEN,
    transitions=[
        Transition(Door.OPEN, Push.SOFT, Door.CLOSED),
        Transition(Door.CLOSED, Push.HARD, Door.BROKEN, "with a bang"),
    ],
)


def test_a_transition_leads_to_the_state_after_it() -> None:
    assert DOOR[Door.OPEN, Push.SOFT] is Door.CLOSED
    assert (Door.CLOSED, Push.HARD) in DOOR
    assert (Door.OPEN, Push.HARD) not in DOOR


def test_an_event_that_the_state_does_not_allow_is_refused() -> None:
    with pytest.raises(TransitionError, match=r"^door: no SOFT in the state BROKEN$"):
        DOOR[Door.BROKEN, Push.SOFT]


def test_two_transitions_for_one_state_and_event_are_refused() -> None:
    with pytest.raises(ValueError, match="two transitions"):
        StateMachine("twice", initial=Door.OPEN, transitions=DOOR.transitions * 2)


def test_the_diagram_has_every_transition_and_every_final_state() -> None:
    assert DOOR.diagram().splitlines() == [
        "stateDiagram-v2",
        "    [*] --> OPEN",
        "    OPEN --> CLOSED : SOFT",
        "    CLOSED --> BROKEN : HARD (with a bang)",
        "    BROKEN --> [*]",
    ]


def test_the_page_has_the_diagrams_of_the_tables() -> None:
    page = Path(__file__).parents[3] / "docs/state_machines.md"
    assert page.read_text() == state_diagrams.page(), (
        "python -m reference.state_diagrams > docs/state_machines.md writes it anew"
    )

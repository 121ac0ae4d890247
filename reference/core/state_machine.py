"""
State machines as tables: the states of one object, and the events that change them.

A machine holds no state of its own. Its user has the current state in an attribute and
replaces it by ``machine[state, event]``. An event that the table does not allow raises
TransitionError. The diagrams of docs/state_machines.md are drawn from the
same tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

State = TypeVar("State", bound=Enum)
Event = TypeVar("Event", bound=Enum)


class TransitionError(RuntimeError):
    """An event that the current state does not allow."""


class Transition(NamedTuple, Generic[State, Event]):
    """One row of a table."""

    state: State
    event: Event
    after: State
    note: str = ""
    """Condition or effect, shown in the diagram."""


class StateMachine(dict[tuple[State, Event], State]):
    """All transitions of one kind of object. A state without a way out is final."""

    def __init__(
        self,
        title: str,
        *,
        initial: State,
        transitions: Iterable[Transition[State, Event]],
    ) -> None:
        self.title = title
        self.initial = initial
        self.transitions = tuple(transitions)
        super().__init__(
            {(one.state, one.event): one.after for one in self.transitions}
        )
        if len(self) != len(self.transitions):
            raise ValueError(f"{title}: two transitions for one state and event")

    def __missing__(self, step: tuple[State, Event]) -> State:
        """Raise TransitionError, which names the state and the event."""
        state, event = step
        raise TransitionError(
            f"{self.title}: no {event.name} in the state {state.name}"
        )

    def is_final(self, state: State) -> bool:
        """Return whether no event leaves *state*."""
        return all(one.state is not state for one in self.transitions)

    def diagram(self) -> str:
        """Return the machine as a Mermaid state diagram."""
        lines = ["stateDiagram-v2", f"    [*] --> {self.initial.name}"]
        for one in self.transitions:
            label = one.event.name + (f" ({one.note})" if one.note else "")
            lines.append(f"    {one.state.name} --> {one.after.name} : {label}")
        ends = dict.fromkeys(one.after for one in self.transitions)
        lines += [f"    {end.name} --> [*]" for end in ends if self.is_final(end)]
        return "\n".join(lines)

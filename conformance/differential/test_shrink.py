"""Programs become as small as what they have to show allows."""

from __future__ import annotations

from hypothesis import given

from conformance.differential.program import Program, programs
from conformance.differential.shrink import shrunk
from conformance.differential.steps.reads import MaxOffset
from conformance.differential.steps.sends import Send, SendBatch


def test_what_is_not_needed_is_left_out_and_the_rest_made_plain() -> None:
    needed = Send(queue_id=2, payload=b"long" * 9, flag=7, properties=(("A", "b"),))
    program = (Send(), MaxOffset(queue_id=1), needed, *[Send(flag=1)] * 9, MaxOffset())

    def shows(candidate: Program) -> bool:
        places = [getattr(step, "queue_id", None) for step in candidate]
        return 2 in places and isinstance(candidate[-1], MaxOffset)

    assert shrunk(program, shows) == (Send(queue_id=2), MaxOffset())


def test_lists_in_a_step_become_shorter() -> None:
    one, other = (b"1", ()), (b"2", ())
    program = (SendBatch(messages=(one, other, one)),)

    def shows(candidate: Program) -> bool:
        return any(other in getattr(step, "messages", ()) for step in candidate)

    assert shrunk(program, shows) == (SendBatch(messages=(other,)),)


@given(program=programs())
def test_what_every_program_shows_is_shown_by_none(program: Program) -> None:
    assert shrunk(program, lambda _program: True) == ()

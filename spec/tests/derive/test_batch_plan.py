"""A batch plan gives the places of the fields that construct reads."""

from __future__ import annotations

import pytest
from construct import Bytes, GreedyBytes, Int8ub, Prefixed, Struct, this
from hypothesis import given

from spec.derive.batch_plan import batch_plans
from spec.derive.walk import UnsuitableLayoutError
from spec.layout import Trace, field, parse
from spec.store.consume_queue import UNIT_SIZE, unit_layout
from spec.store.message_record import Record, encode_record, record_layout
from spec.tests.strategies import records

plans = batch_plans(record_layout)


def places(data: bytes) -> dict[str, tuple[int, int]]:
    """Return the place of each field of the record *data*, from its plan."""
    found: dict[str, tuple[int, int]] = {}
    values = []
    for placed in plans.deciding:
        word = data[placed.offset : placed.offset + placed.size]
        values.append(int.from_bytes(word, signed=placed.format[1] == "i"))
    position = 0
    for run in plans.plan(tuple(values)):
        for placed in run.fields:
            start = position + placed.offset
            found[placed.name] = (start, start + placed.size)
        position += run.size
        if run.sized:
            start, end = found[run.fields[-1].name]
            size = int.from_bytes(data[start:end])
            found[run.sized] = (position, position + size)
            position += size
    assert position == len(data)
    return found


@given(record=records())
def test_fields_are_where_construct_finds_them(record: Record) -> None:
    data = encode_record(record)
    trace = Trace()
    parse(record_layout, data, trace)
    found = places(data)
    for span in trace:
        name = span.path.replace(".", "_")
        if f"{name}_size" in found:  # construct's span begins with the size
            assert (found[f"{name}_size"][0], found[name][1]) == (span.start, span.end)
        elif name in found:
            assert found[name] == (span.start, span.end)


def test_a_layout_of_fixed_size_is_one_run() -> None:
    (run,) = batch_plans(unit_layout).plan(())
    assert (run.size, run.sized) == (UNIT_SIZE, "")


def test_plans_of_equal_shape_are_equal() -> None:
    magic = 0xDAA320A7
    assert plans.plan((magic, 0)) == plans.plan((magic, 1))
    assert plans.plan((magic, 0)) != plans.plan((magic, 16))


def test_plans_are_not_kept_without_limit() -> None:
    some = batch_plans(record_layout)
    for flags in range(3000):
        some.plan((0, flags))
    assert len(some._plans) <= 1024


def test_a_layout_that_no_plan_can_tell_is_refused() -> None:
    computed = Struct(field("n", Int8ub), field("rest", Bytes(this.n)))
    with pytest.raises(UnsuitableLayoutError):
        batch_plans(computed).plan(())
    prefixed = Struct(field("rest", Prefixed(Int8ub, GreedyBytes)))
    (run,) = batch_plans(prefixed).plan(())
    assert (run.sized, run.fields[0].name) == ("rest", "rest_size")

"""Code generated from a plan does the same as walking the plan, misfits included."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from struct import error as StructError  # noqa: N812 - it is a class
from typing import Any

from construct import Const, Int8ub, Struct
from hypothesis import given
from hypothesis import strategies as st

from spec.derive.straight import MisfitError, straight
from spec.derive.struct_codec import _read, _shape, _write, compile_codec
from spec.layout import field
from spec.store.consume_queue import unit_codec
from spec.store.message_record import MAGIC_V1, encode_record, record_codec
from spec.tests.strategies import mutated, records

KEYS = records().map(
    lambda record: tuple(
        record_codec.decode(encode_record(record))[i] for i in record_codec._deciding
    )
)
"""Parameters that select a plan: version, and whether hosts are wide."""


def outcome(act: Callable[[], Any]) -> object:
    try:
        return act()
    except (MisfitError, StructError, TypeError) as error:
        return type(error)


@given(raw=mutated(records().map(encode_record)), key=KEYS, at=st.integers(0, 3))
def test_both_read_alike(raw: bytes, key: tuple[int, ...], at: int) -> None:
    plan = record_codec.plan(key)
    compiled = straight(plan)
    assert compiled is not None
    data = memoryview(bytes(at) + raw)
    walked = outcome(partial(_read, plan, data, at))
    assert outcome(partial(compiled[0], data, at)) == walked


@given(
    record=records(),
    key=KEYS,
    place=st.integers(0, 18),
    value=st.sampled_from([-1, 2**63, b"", b"four", bytes(16), "text", None]),
)
def test_both_write_alike(
    record: Any, key: tuple[int, ...], place: int, value: object
) -> None:
    values: list[object] = list(record_codec.decode(encode_record(record)))
    plan = record_codec.plan(key)
    compiled = straight(plan)
    assert compiled is not None
    for some in (values, [*values[:place], value, *values[place + 1 :]]):
        walked = outcome(partial(_write, plan, some))
        assert outcome(partial(compiled[1], some)) == walked


def test_what_is_fixed_is_one_call() -> None:
    compiled = straight(unit_codec.plan(()))
    assert compiled is not None
    read, write = compiled
    assert read(b"?" + write((1, 2, 3)), 1) == ((1, 2, 3), 21)


def test_what_struct_cannot_read_is_walked() -> None:
    codec = compile_codec(Struct(field("sign", Const(0x7E, Int8ub))))
    assert straight(codec.plan(())) is None


def test_plans_that_peers_select_are_not_compiled() -> None:
    before = dict(record_codec._compiled)
    for flags in range(64):
        record_codec._plan((-1, flags))
    assert record_codec._compiled == before
    narrow = record_codec._compiled[shape_of((MAGIC_V1, 0))]
    assert record_codec._plan((MAGIC_V1, 1)) == narrow


def shape_of(key: tuple[int, ...]) -> tuple[Any, ...]:
    return _shape(record_codec.plan(key))

"""Values that are drawn for a layout fit it, and every choice in it is reached."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from conformance.strategies.layouts import bytes_of, values_of
from spec.derive.struct_codec import compile_codec
from spec.layout import Trace, build, parse
from spec.layouts import LAYOUTS
from spec.store.message_record import MAGIC_V2

FIRST_HIT = settings(phases=[Phase.generate], deadline=None, database=None)
"""Any example is enough; it need not be the smallest."""


@pytest.mark.parametrize("name", sorted(LAYOUTS))
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_drawn_values_are_read_back_as_they_were(
    name: str, data: st.DataObject
) -> None:
    layout = LAYOUTS[name]
    values = data.draw(values_of(layout))
    written = build(layout, values)
    trace = Trace()
    assert _plain(parse(layout, written, trace)) == values
    assert max(span.end for span in trace) == len(written)


@pytest.mark.parametrize("name", sorted(LAYOUTS))
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_the_quick_reader_reads_drawn_bytes_too(name: str, data: st.DataObject) -> None:
    written = data.draw(bytes_of(LAYOUTS[name]))
    codec = compile_codec(LAYOUTS[name])
    assert codec.encode(codec.decode(written)) == written


def test_both_widths_of_a_choice_are_drawn() -> None:
    record = values_of(LAYOUTS["message_record"])
    wide = find(
        record,
        lambda values: len(values["born_host"]["address"]) == 16,
        settings=FIRST_HIT,
    )
    assert wide["system_flags"] & 16
    find(
        record,
        lambda values: len(values["born_host"]["address"]) == 4,
        settings=FIRST_HIT,
    )


def test_a_frame_has_a_header_and_a_body() -> None:
    frame = values_of(LAYOUTS["frame"])
    found = find(
        frame,
        lambda values: bool(values["header"] and values["body"]),
        settings=FIRST_HIT,
    )
    assert found["size"] == 4 + len(found["header"]) + len(found["body"])


def test_what_a_choice_compares_with_is_drawn() -> None:
    record = values_of(LAYOUTS["message_record"])
    assert find(
        record,
        lambda values: values["magic"] == MAGIC_V2 and values["topic"],
        settings=FIRST_HIT,
    )


def _plain(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _plain(one) for name, one in value.items() if name != "_io"}

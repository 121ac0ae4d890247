"""The struct codec and construct return the same results, on good and on bad bytes."""

from __future__ import annotations

from typing import Any

import pytest
from construct import Bytes, Const, Int8ub, Int16sb, Int24ub, Int32ub, Struct, this
from hypothesis import given
from hypothesis import strategies as st

from spec.derive.struct_codec import StructCodec, compile_codec
from spec.derive.walk import UnsuitableLayoutError
from spec.layout import LayoutError, Trace, build, field, parse
from spec.layouts import LAYOUTS
from spec.store.consume_queue import unit_codec
from spec.store.message_record import encode_record, record_codec
from spec.tests.strategies import commands, mutated, records
from spec.wire.remoting.command import encode_command
from spec.wire.remoting.frame import frame_codec

record_bytes = records().map(encode_record)
frame_bytes = commands().map(encode_command)
unit_bytes = st.binary(min_size=20, max_size=20)

odd_codec = compile_codec(
    Struct(
        field("sign", Const(0x7E, Int8ub)),
        field("mark", Const(b"MZ")),
        field("count", Int24ub),
        field("wide", Int32ub),
        field("rest", Bytes(this.count + 1)),
        field("last", Int16sb),
    )
)


def _plainly(codec: StructCodec, data: bytes) -> object:
    """Return construct's result for *data*: values by name and end, or the error."""
    trace = Trace()
    try:
        parsed = parse(codec.layout, data, trace)
    except LayoutError as error:
        return str(error)
    return _plain(parsed), max(span.end for span in trace)


def _plain(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {k: _plain(v) for k, v in value.items() if k != "_io"}


def _quickly(codec: StructCodec, data: bytes, offset: int = 0) -> object:
    try:
        values, end = codec.decode_from(data, offset)
    except LayoutError as error:
        return str(error)
    return codec.as_mapping(values), end - offset


CASES = [
    pytest.param(record_codec, record_bytes, id="record"),
    pytest.param(unit_codec, unit_bytes, id="unit"),
    pytest.param(frame_codec, frame_bytes, id="frame"),
    pytest.param(odd_codec, st.just(b"\x7eMZ\0\0\2WIDEabc\xff\xfe"), id="odd"),
]


@pytest.mark.parametrize(("codec", "whole"), CASES)
@given(data=st.data())
def test_both_read_the_same_values_from_good_bytes(
    codec: StructCodec, whole: st.SearchStrategy[bytes], data: st.DataObject
) -> None:
    raw = data.draw(whole)
    assert _quickly(codec, raw) == _plainly(codec, raw)
    assert not isinstance(_plainly(codec, raw), str)


@pytest.mark.parametrize(("codec", "whole"), CASES)
@given(data=st.data())
def test_both_read_the_same_or_fail_the_same_on_mutated_bytes(
    codec: StructCodec, whole: st.SearchStrategy[bytes], data: st.DataObject
) -> None:
    raw = data.draw(mutated(whole))
    assert _quickly(codec, raw) == _plainly(codec, raw)


@pytest.mark.parametrize(("codec", "whole"), CASES)
@given(data=st.data())
def test_what_was_read_is_written_back_as_construct_writes_it(
    codec: StructCodec, whole: st.SearchStrategy[bytes], data: st.DataObject
) -> None:
    raw = data.draw(whole)
    values = codec.decode(raw)
    assert codec.encode(values) == raw == build(codec.layout, codec.as_mapping(values))


@pytest.mark.parametrize(("codec", "whole"), CASES)
@given(data=st.data())
def test_both_write_the_same_or_fail_the_same_on_odd_values(
    codec: StructCodec, whole: st.SearchStrategy[bytes], data: st.DataObject
) -> None:
    values = list(codec.decode(data.draw(whole)))
    place = data.draw(st.integers(0, len(values) - 1))
    odd = [0, -1, 2**24, 2**63, b"", b"four", b"x" * 16, b"x" * 40_000]
    values[place] = data.draw(st.sampled_from(odd))
    assert _written(codec.encode, values) == _written(
        lambda given: build(codec.layout, codec.as_mapping(given)), values
    )


def _written(write: Any, values: list[Any]) -> object:
    try:
        return write(values)
    except LayoutError as error:
        return str(error)


@given(raw=record_bytes, before=st.binary(max_size=9))
def test_an_offset_is_where_reading_begins(raw: bytes, before: bytes) -> None:
    data = memoryview(before + raw + b"after")
    assert _quickly(record_codec, bytes(data), len(before)) == _plainly(
        record_codec, raw
    )


def test_every_layout_has_a_quick_reader() -> None:
    for layout in LAYOUTS.values():
        codec = compile_codec(layout)
        assert codec.names


def test_a_layout_that_the_codec_does_not_know_is_refused() -> None:
    with pytest.raises(UnsuitableLayoutError):
        compile_codec(Struct(Int8ub))


def test_a_negative_offset_is_refused() -> None:
    with pytest.raises(LayoutError):
        unit_codec.decode(bytes(20), -1)


def test_a_wrong_number_of_values_is_refused() -> None:
    with pytest.raises(LayoutError):
        unit_codec.encode((1, 2))

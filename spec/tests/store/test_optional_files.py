"""Extension units, batch units and the timer's files: known bytes, and round trips."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.derive.struct_codec import compile_codec
from spec.layout import LayoutError
from spec.layouts import LAYOUTS
from spec.store import batch_queue, queue_extension
from spec.store.batch_queue import BatchUnit
from spec.store.queue_extension import ExtensionUnit
from spec.store.timer import timer_log, timer_wheel
from spec.store.timer.timer_log import TimerMagic, TimerUnit
from spec.store.timer.timer_wheel import TimerCheckpoint, TimerSlot
from spec.tests.store.optional_samples import BATCH, DECODERS, EXTENSION, TIMER
from spec.tests.strategies import int16s, int32s, int64s, mutated

FIXED = {
    "batch_consume_queue_unit": 46,
    "replication_slave_offset": 8,
    "timer_blank": 16,
    "timer_checkpoint": 56,
    "timer_slot": 32,
    "timer_unit": 52,
}

extension_units = st.builds(
    ExtensionUnit,
    tags_code=int64s,
    stored_at_ms=int64s,
    filter_bits=st.binary(max_size=8) | st.just(b"b" * 32_747),
)
batch_units = st.builds(
    BatchUnit,
    commit_log_offset=int64s,
    size=int32s,
    tags_code=int64s,
    stored_at_ms=int64s,
    first_queue_offset=int64s,
    message_count=int16s,
    compacted_offset=int32s,
    reserved=int32s,
)
timer_units = st.builds(
    TimerUnit,
    previous_position=int64s,
    magic=st.integers(0, 15),
    written_at_ms=int64s,
    delay_ms=int32s,
    commit_log_offset=int64s,
    record_size=int32s,
    topic_hash=int32s,
    reserved=int64s,
)
timer_slots = st.builds(
    TimerSlot,
    time=int64s,
    first_position=int64s,
    last_position=int64s,
    message_count=int32s,
    magic=int32s,
)
timer_checkpoints = st.builds(
    TimerCheckpoint,
    read_at_ms=int64s,
    flushed_position=int64s,
    queue_offset=int64s,
    master_queue_offset=int64s,
    state_version=int64s,
    version_at_ms=int64s,
    version_counter=int64s,
)
ALSO: dict[str, Callable[[bytes], object]] = {
    "extension units": queue_extension.decode_extension_units,
    "batch units": batch_queue.decode_batch_units,
    "timer units": timer_log.decode_timer_units,
}
EVERY = ALSO | {name: decoder.decode for name, decoder in DECODERS.items()}
KINDS = {
    "extension unit": extension_units,
    "batch unit": batch_units,
    "timer unit": timer_units,
    "timer slot": timer_slots,
    "timer checkpoint": timer_checkpoints,
}


@pytest.mark.parametrize(("name", "size"), FIXED.items())
def test_a_layout_of_fixed_size_has_that_size(name: str, size: int) -> None:
    assert LAYOUTS[name].sizeof() == size


@pytest.mark.parametrize("name", EVERY)
@given(data=mutated(st.sampled_from([d.sample for d in DECODERS.values()])))
def test_a_decoder_of_bad_bytes_raises_nothing_but_a_layout_error(
    name: str, data: bytes
) -> None:
    with contextlib.suppress(LayoutError):
        EVERY[name](data)


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
def test_what_is_encoded_is_decoded_to_the_same(name: str, data: st.DataObject) -> None:
    value = data.draw(KINDS[name])
    decoder = DECODERS[name]
    assert decoder.decode(decoder.encode(value)) == value


@pytest.mark.parametrize("name", FIXED)
@given(data=st.data())
def test_the_quick_codec_reads_and_writes_fixed_layouts_alike(
    name: str, data: st.DataObject
) -> None:
    raw = data.draw(st.binary(min_size=FIXED[name], max_size=FIXED[name]))
    codec = compile_codec(LAYOUTS[name])
    values = codec.as_mapping(codec.decode(raw))
    parsed = LAYOUTS[name].parse(raw)
    assert values == {key: parsed[key] for key in values}
    assert codec.encode(codec.decode(raw)) == raw


def test_an_extension_unit_is_read_from_known_bytes() -> None:
    assert queue_extension.decode_extension_unit(EXTENSION) == ExtensionUnit(
        tags_code=0x94A, stored_at_ms=0x16E3A1B2C3D, filter_bits=b"\xa5\x5a"
    )


def test_an_extensions_file_ends_at_its_mark_and_at_zeros() -> None:
    for end in (b"\xff\xff", b"\0\0", b"\xff\xff" + bytes(30)):
        found = queue_extension.decode_extension_units(EXTENSION * 2 + end)
        assert list(found) == [0, 22]


def test_an_extensions_unit_that_lies_is_found_at_its_place() -> None:
    with pytest.raises(LayoutError) as caught:
        queue_extension.decode_extension_units(
            EXTENSION + b"\x00\x17" + EXTENSION[2:] + b"!"
        )
    assert caught.value.offset == 22


def test_an_extension_unit_has_room_for_so_many_bits_only() -> None:
    unit = ExtensionUnit(stored_at_ms=0, filter_bits=bytes(32_748))
    with pytest.raises(LayoutError):
        queue_extension.encode_extension_unit(unit)


@given(offset=st.integers(0, queue_extension.OFFSET_MAX))
def test_an_address_stands_for_an_offset(offset: int) -> None:
    address = queue_extension.extension_address(offset)
    assert address < -(2**31)
    assert queue_extension.offset_of_address(address) == offset


@pytest.mark.parametrize("tags_code", [0, -1, -(2**31), 2**31])
def test_a_hash_is_no_address(tags_code: int) -> None:
    with pytest.raises(LayoutError):
        queue_extension.offset_of_address(tags_code)


@pytest.mark.parametrize("offset", [-1, queue_extension.OFFSET_MAX + 1])
def test_an_offset_out_of_range_has_no_address(offset: int) -> None:
    with pytest.raises(LayoutError):
        queue_extension.extension_address(offset)


def test_a_batch_unit_is_read_from_known_bytes() -> None:
    unit = batch_queue.decode_batch_unit(BATCH)
    assert unit == BatchUnit(
        commit_log_offset=2**32,
        size=240,
        tags_code=-1,
        stored_at_ms=0x16E3A1B2C3D,
        first_queue_offset=7,
        message_count=3,
    )
    assert unit.next_queue_offset == 10


def test_batch_units_end_before_zeros() -> None:
    assert len(batch_queue.decode_batch_units(BATCH * 2 + bytes(46))) == 2
    with pytest.raises(LayoutError):
        batch_queue.decode_batch_units(BATCH + b"\0")


def test_a_timer_unit_is_read_from_known_bytes() -> None:
    unit = timer_log.decode_timer_unit(TIMER)
    assert unit.magic == TimerMagic.DEFAULT
    assert unit.due_at_ms == 0x16E3A1B2C3D + 5000
    assert unit.previous_position == -1


def test_a_timer_logs_file_ends_at_a_blank_and_at_zeros() -> None:
    blank = timer_log.encode_timer_blank(100)
    for end in (blank + bytes(84), bytes(100)):
        assert list(timer_log.decode_timer_units(TIMER * 2 + end)) == [0, 52]


@pytest.mark.parametrize(
    ("place", "byte"), [(3, 53), (15, 16)], ids=["size", "unknown magic"]
)
def test_a_timer_unit_that_is_none_is_refused(place: int, byte: int) -> None:
    wrong = TIMER[:place] + bytes([byte]) + TIMER[place + 1 :]
    with pytest.raises(LayoutError):
        timer_log.decode_timer_unit(wrong)


def test_a_blank_of_the_timer_log_has_room_for_its_words() -> None:
    with pytest.raises(LayoutError):
        timer_log.encode_timer_blank(15)


def test_a_slots_number_goes_round() -> None:
    assert timer_wheel.slot_index(999) == 0
    assert timer_wheel.slot_index(timer_wheel.SLOT_COUNT * 1000 + 5000) == 5
    assert timer_wheel.slot_index(5000, precision_ms=100) == 50
    assert timer_wheel.WHEEL_SIZE == 38_707_200
    with pytest.raises(LayoutError):
        timer_wheel.slot_index(-1)

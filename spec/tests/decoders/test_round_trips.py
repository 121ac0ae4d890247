"""Encoded values decode to the same values, for all values near Java's boundaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout import LayoutError
from spec.store import index_file
from spec.store.checkpoint import Checkpoint, decode_checkpoint, encode_checkpoint
from spec.store.consume_queue import Unit, decode_unit, encode_unit
from spec.store.index_file import IndexHeader, IndexItem
from spec.store.message_record import (
    BadChecksumError,
    Record,
    decode_record,
    decode_records,
    encode_record,
    record_size,
)
from spec.tests.strategies import (
    commands,
    hosts,
    int32s,
    int64s,
    near,
    plain_texts,
    records,
)
from spec.wire.bodies import fastjson
from spec.wire.message.message_id import decode_message_id, encode_message_id
from spec.wire.message.properties import decode_properties, encode_properties
from spec.wire.message.unique_key import UniqueKey, decode_unique_key, encode_unique_key
from spec.wire.remoting.command import Command, decode_command, encode_command

counts = near(2**8, 2**31 - 1, least=0, most=2**31 - 1)


@given(record=records())
def test_a_record(record: Record) -> None:
    data = encode_record(record)
    assert decode_record(data) == record
    assert len(data) == record_size(record)


@given(found=st.lists(records(), max_size=3))
def test_a_row_of_records(found: list[Record]) -> None:
    assert list(decode_records(b"".join(map(encode_record, found)))) == found


@given(command=commands())
def test_a_command(command: Command) -> None:
    assert decode_command(encode_command(command)) == command


@given(st.builds(Unit, commit_log_offset=int64s, size=int32s, tags_code=int64s))
def test_a_unit(unit: Unit) -> None:
    assert decode_unit(encode_unit(unit)) == unit


@given(
    st.builds(
        IndexItem,
        key_hash=int32s,
        commit_log_offset=int64s,
        seconds=int32s,
        previous_item=int32s,
    )
)
def test_an_index_item(item: IndexItem) -> None:
    assert index_file.decode_item(index_file.encode_item(item)) == item


@given(
    st.builds(
        IndexHeader,
        begin_stored_at_ms=int64s,
        end_stored_at_ms=int64s,
        begin_offset=int64s,
        end_offset=int64s,
        slot_count=counts,
        index_count=counts,
    )
)
def test_an_index_header(header: IndexHeader) -> None:
    assert index_file.decode_header(index_file.encode_header(header)) == header


@given(st.builds(Checkpoint, physic_ms=int64s, logics_ms=int64s, index_ms=int64s))
def test_a_checkpoint(checkpoint: Checkpoint) -> None:
    data = encode_checkpoint(checkpoint)
    assert len(data) == 4096
    assert decode_checkpoint(data) == checkpoint


@given(data=st.data(), v6=st.booleans(), offset=int64s)
def test_a_message_id(data: st.DataObject, v6: bool, offset: int) -> None:
    host = data.draw(hosts(v6=v6))
    text = encode_message_id(host, offset)
    assert decode_message_id(text) == decode_message_id(text.lower()) == (host, offset)


@given(
    key=st.builds(
        UniqueKey,
        address=st.binary(min_size=4, max_size=4) | st.binary(min_size=16, max_size=16),
        process_id=near(2**15, least=0, most=2**16 - 1),
        class_loader_hash=int32s,
        since_month_ms=near(2**31, least=0, most=2**32 - 1),
        counter=near(2**15, least=0, most=2**16 - 1),
    )
)
def test_a_unique_key(key: UniqueKey) -> None:
    assert decode_unique_key(encode_unique_key(key)) == key


@given(
    found=st.dictionaries(plain_texts, plain_texts.filter(bool), max_size=5),
    final=st.booleans(),
)
def test_properties(found: dict[str, str], final: bool) -> None:
    assert decode_properties(encode_properties(found, final_separator=final)) == found


json_values = st.recursive(
    st.none()
    | st.booleans()
    | int64s
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(), inner.filter(lambda v: v is not None), max_size=3)
    ),
    max_leaves=12,
)


@given(value=json_values)
def test_json(value: object) -> None:
    assert fastjson.loads(fastjson.dumps(value)) == value


@given(record=records().filter(lambda record: bool(record.body)))
def test_a_changed_body_does_not_match_its_checksum(record: Record) -> None:
    data = bytearray(encode_record(record))
    data[8:12] = ((int.from_bytes(data[8:12], "big") + 1) % 2**31).to_bytes(4, "big")
    with pytest.raises(BadChecksumError) as caught:
        decode_record(bytes(data))
    assert isinstance(caught.value, LayoutError)
    assert decode_record(bytes(data), check_crc=False) == record

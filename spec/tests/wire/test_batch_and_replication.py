"""Batch bodies and what master and slave exchange: known bytes, and round trips."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.derive.struct_codec import compile_codec
from spec.layout import LayoutError, parse
from spec.layouts import LAYOUTS
from spec.store.queue_extension import ExtensionUnit, encode_extension_unit
from spec.tests.strategies import bodies, int32s, int64s, mutated, plain_texts
from spec.tests.wire.batch_samples import BATCH, DECODERS, PIECE
from spec.wire.ha import replication
from spec.wire.ha.replication import Piece
from spec.wire.send import batch_body
from spec.wire.send.batch_body import BatchMessage

messages = st.builds(
    BatchMessage,
    body=bodies,
    properties=plain_texts | st.just("P" * 32_767),
    flag=int32s,
    magic=int32s,
    body_crc=int32s,
)
pieces = st.builds(Piece, offset=int64s, data=bodies)


@pytest.mark.parametrize("name", DECODERS)
@given(data=mutated(st.sampled_from([BATCH, PIECE])))
def test_a_decoder_of_bad_bytes_raises_nothing_but_a_layout_error(
    name: str, data: bytes
) -> None:
    with contextlib.suppress(LayoutError):
        DECODERS[name].decode(data)
    with contextlib.suppress(LayoutError):
        list(batch_body.decode_batch(data))


LAYOUT_OF = {
    "batch_message": messages.map(batch_body.encode_batch_message),
    "consume_queue_extension_unit": st.builds(
        ExtensionUnit, stored_at_ms=int64s, filter_bits=st.binary(max_size=20)
    ).map(encode_extension_unit),
    "replication_piece": pieces.map(replication.encode_piece),
}


@pytest.mark.parametrize("name", LAYOUT_OF)
@given(data=st.data())
def test_the_quick_codec_reads_and_writes_variable_layouts_alike(
    name: str, data: st.DataObject
) -> None:
    raw = data.draw(LAYOUT_OF[name])
    codec = compile_codec(LAYOUTS[name])
    values = codec.as_mapping(codec.decode(raw + b"more"))
    parsed = parse(LAYOUTS[name], raw)
    assert values == {key: parsed[key] for key in values}
    assert codec.encode(codec.decode(raw)) == raw


def test_a_batchs_message_is_read_from_known_bytes() -> None:
    assert batch_body.decode_batch_message(BATCH) == BatchMessage(
        body=b"hello", properties="TAGS\x01t\x02", flag=3
    )


@given(sent=st.lists(messages, max_size=4))
def test_a_batch_holds_its_messages_in_order(sent: list[BatchMessage]) -> None:
    assert list(batch_body.decode_batch(batch_body.encode_batch(sent))) == sent


def test_a_fault_in_a_batch_is_found_at_its_place() -> None:
    with pytest.raises(LayoutError) as caught:
        list(batch_body.decode_batch(BATCH + BATCH[:-1]))
    assert caught.value.offset == len(BATCH)


def test_properties_of_more_than_two_bytes_count_are_refused() -> None:
    with pytest.raises(LayoutError):
        batch_body.encode_batch_message(BatchMessage(body=b"", properties="p" * 32_768))


@given(piece=pieces)
def test_a_piece_of_the_log_arrives(piece: Piece) -> None:
    data = replication.encode_piece(piece)
    assert replication.decode_piece(data) == piece
    assert replication.size_of_piece(data) == len(data)
    assert piece.end_offset - piece.offset == len(piece.data)


def test_a_sign_of_life_is_a_header_alone() -> None:
    assert replication.decode_piece(bytes(8) + bytes(4)) == Piece(offset=0)


def test_a_piece_of_negative_size_is_refused() -> None:
    with pytest.raises(LayoutError) as caught:
        replication.size_of_piece(bytes(8) + b"\xff" * 4)
    assert caught.value.field == "size"


def test_a_header_that_is_not_all_there_has_no_size_yet() -> None:
    assert replication.size_of_piece(bytes(11)) is None

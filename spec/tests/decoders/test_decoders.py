"""
Every decoder with all its bytes, with some, and with more.

test_fuzz covers bad bytes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spec.decoders import OF_OUR_OWN, decoding_functions
from spec.host import Host
from spec.store import index_file
from spec.store.blank import Blank, decode_blank, encode_blank
from spec.store.checkpoint import Checkpoint, decode_checkpoint, encode_checkpoint
from spec.store.consume_queue import Unit, decode_unit, encode_unit
from spec.store.index_file import IndexHeader, IndexItem
from spec.store.message_record import Record, decode_record, encode_record
from spec.tests.decoders.arrival import Decoder, check
from spec.tests.store.test_optional_files import DECODERS as MORE_DECODERS
from spec.tests.wire.test_batch_and_replication import DECODERS as BATCH_DECODERS
from spec.wire.bodies import fastjson
from spec.wire.message.message_id import decode_message_id, encode_message_id
from spec.wire.message.unique_key import decode_unique_key, encode_unique_key
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.frame import Frame, decode_frame, encode_frame

RECORD = Record(
    topic="TopicTest",
    queue_id=3,
    queue_offset=7,
    physical_offset=1234,
    body=b"hello",
    properties="TAGS\x01a\x02",
)
COMMAND = Command(310, opaque=-1, fields={"a": "g", "i": "é"}, remark="r", body=b"b")
BINARY = Command(310, fields={"a": "g"}, body=b"b", serialize_type=1)
HEADER = IndexHeader(begin_stored_at_ms=1, end_stored_at_ms=2, index_count=3)
ITEM = IndexItem(key_hash=9, commit_log_offset=8, seconds=7, previous_item=6)
HOST = Host.of("127.0.0.1", 10_911)


def _id_of(data: bytes) -> tuple[Host, int]:
    return decode_message_id(data.decode("latin-1"))


def _key_of(data: bytes) -> object:
    return decode_unique_key(data.decode("latin-1"))


DECODERS = {
    "record": Decoder(
        decode=decode_record,
        encode=encode_record,
        sample=encode_record(RECORD),
        ignores_rest=True,
    ),
    "blank": Decoder(
        decode=decode_blank,
        encode=encode_blank,
        sample=encode_blank(Blank(99)),
        ignores_rest=True,
    ),
    "unit": Decoder(
        decode=decode_unit,
        encode=encode_unit,
        sample=encode_unit(Unit(commit_log_offset=5, size=91, tags_code=-2)),
        ignores_rest=True,
    ),
    "index header": Decoder(
        decode=index_file.decode_header,
        encode=index_file.encode_header,
        sample=index_file.encode_header(HEADER),
        ignores_rest=True,
    ),
    "index item": Decoder(
        decode=index_file.decode_item,
        encode=index_file.encode_item,
        sample=index_file.encode_item(ITEM),
        ignores_rest=True,
    ),
    "index slot": Decoder(
        decode=index_file.decode_slot,
        encode=index_file.encode_slot,
        sample=index_file.encode_slot(77),
        ignores_rest=True,
    ),
    "checkpoint": Decoder(
        decode=decode_checkpoint,
        encode=encode_checkpoint,
        sample=encode_checkpoint(Checkpoint(physic_ms=1, logics_ms=2, index_ms=3)),
        ignores_rest=True,
        least=40,
    ),
    "frame": Decoder(
        decode=decode_frame,
        encode=encode_frame,
        sample=encode_frame(Frame(header=b"head", body=b"body")),
        ignores_rest=False,
    ),
    "command in JSON": Decoder(
        decode=decode_command,
        encode=encode_command,
        sample=encode_command(COMMAND),
        ignores_rest=False,
    ),
    "command in ROCKETMQ": Decoder(
        decode=decode_command,
        encode=encode_command,
        sample=encode_command(BINARY),
        ignores_rest=False,
    ),
    "message id": Decoder(
        decode=_id_of,
        encode=lambda found: encode_message_id(*found).encode(),
        sample=encode_message_id(HOST, 4321).encode(),
        ignores_rest=False,
    ),
    "unique key": Decoder(
        decode=_key_of,
        encode=lambda found: encode_unique_key(found).encode(),
        sample=b"7F0000013D0C18B4AAC25D2A3F5E0003",
        ignores_rest=False,
    ),
    "JSON": Decoder(
        decode=fastjson.loads,
        encode=fastjson.dumps,
        sample=b'{0:"a",{"q":1,"t":"x"}:[1.5,true,null,{"n":-3}]}',
        ignores_rest=False,
    ),
}


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_takes_the_whole_and_refuses_every_part(name: str) -> None:
    check(DECODERS[name])


TEXTS = {
    "routing.broker_registration.decode_registration",
    "routing.cluster_info.decode_cluster_info",
    "routing.cluster_info.decode_topic_list",
    "routing.kv_config.decode_key_value_table",
    "routing.route_data.decode_route",
    "routing.topic_config.decode_data_version",
    "routing.topic_config.decode_topic_line",
    "routing.topic_config.decode_topic_table",
    "store.config.config_files.decode_consumer_offsets",
    "store.config.config_files.decode_delay_offsets",
    "store.config.config_files.decode_groups",
    "store.epoch_file.decode_epochs",
    "wire.message.delay_levels.decode_delay_levels",
    "wire.remoting.header_json.decode_json_header",
    "wire.bodies.json_body.decode_body",
    "wire.pop.pop_receipt.decode_popped_queues",
    "wire.pop.pop_receipt.decode_receipt",
    "wire.message.properties.decode_properties",
    "wire.message.timed.decode_recall_handle",
    "wire.message.system_topics.decode_op_body",
    "wire.message.trace.decode_trace",
}
"""Decoders of text: a part of it may be whole, or what refuses a part is JSON's own."""
ROWS = {
    "store.batch_queue.decode_batch_units",
    "store.consume_queue.decode_units",
    "store.message_record.decode_records",
    "store.queue_extension.decode_extension_units",
    "store.timer.timer_log.decode_timer_units",
    "wire.send.batch_body.decode_batch",
    "wire.remoting.command.decode_command",
    "wire.remoting.header_rocketmq.decode_entries",
    "wire.remoting.header_rocketmq.decode_rocketmq_header",
    "wire.message.message_id.decode_message_id",
    "wire.message.unique_key.decode_unique_key",
}
"""Decoders of what is tried above in one piece: rows of it, or its parts and texts."""


def test_no_decoder_is_left_out() -> None:
    tried = {
        name_of(decoder.decode)
        for table in (DECODERS, BATCH_DECODERS, MORE_DECODERS)
        for decoder in table.values()
    }
    named = {name.removeprefix("spec.") for name in decoding_functions()}
    ours = {name.removeprefix("spec.") for name in OF_OUR_OWN}
    assert sorted(named - tried - TEXTS - ROWS - ours) == [], "give each a sample"
    assert (TEXTS | ROWS | ours) <= named, "one of these is no more"


def name_of(decode: Callable[[bytes], object]) -> str:
    """Return the name that the specification has for *decode*."""
    return f"{decode.__module__}.{decode.__name__}".removeprefix("spec.")

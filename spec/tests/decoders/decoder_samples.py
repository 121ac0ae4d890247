"""A sample of each structure, with its decoder and encoder."""

from __future__ import annotations

from spec.host import Host
from spec.store import index_file
from spec.store.blank import Blank, decode_blank, encode_blank
from spec.store.checkpoint import Checkpoint, decode_checkpoint, encode_checkpoint
from spec.store.consume_queue import Unit, decode_unit, encode_unit
from spec.store.index_file import IndexHeader, IndexItem
from spec.store.message_record import Record, decode_record, encode_record
from spec.tests.decoders.arrival import Decoder
from spec.tests.store.optional_samples import DECODERS as OPTIONAL_DECODERS
from spec.tests.wire.batch_samples import DECODERS as BATCH_DECODERS
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
    **OPTIONAL_DECODERS,
    **BATCH_DECODERS,
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

"""Samples of batch bodies and of the data that master and slave exchange."""

from __future__ import annotations

from spec.tests.decoders.arrival import Decoder
from spec.wire.ha import replication
from spec.wire.send import batch_body

BATCH = bytes.fromhex("00000022 00000000 00000000 00000003 00000005") + (
    b"hello" + b"\x00\x07" + b"TAGS\x01t\x02"
)
PIECE = bytes.fromhex("0000000000001000 00000004") + b"data"
DECODERS = {
    "batch message": Decoder(
        decode=batch_body.decode_batch_message,
        encode=batch_body.encode_batch_message,
        sample=BATCH,
        ignores_rest=True,
    ),
    "piece": Decoder(
        decode=replication.decode_piece,
        encode=replication.encode_piece,
        sample=PIECE,
        ignores_rest=True,
    ),
    "slave offset": Decoder(
        decode=replication.decode_slave_offset,
        encode=replication.encode_slave_offset,
        sample=bytes(range(8)),
        ignores_rest=True,
    ),
}

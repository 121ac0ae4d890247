"""Samples of extension units, batch units and the timer's files."""

from __future__ import annotations

from spec.store import batch_queue, queue_extension
from spec.store.timer import timer_log, timer_wheel
from spec.tests.decoders.arrival import Decoder

EXTENSION = bytes.fromhex("0016 000000000000094a 0000016e3a1b2c3d 0002 a55a")
BATCH = bytes.fromhex(
    "0000000100000000 000000f0 ffffffffffffffff 0000016e3a1b2c3d"
    "0000000000000007 0003 ffffffff 00000000"
)
TIMER = bytes.fromhex(
    "00000034 ffffffffffffffff 00000001 0000016e3a1b2c3d 00001388"
    "0000000000001000 000000f0 00001234 0000000000000000"
)
DECODERS = {
    "extension unit": Decoder(
        decode=queue_extension.decode_extension_unit,
        encode=queue_extension.encode_extension_unit,
        sample=EXTENSION,
        ignores_rest=True,
    ),
    "batch unit": Decoder(
        decode=batch_queue.decode_batch_unit,
        encode=batch_queue.encode_batch_unit,
        sample=BATCH,
        ignores_rest=True,
    ),
    "timer unit": Decoder(
        decode=timer_log.decode_timer_unit,
        encode=timer_log.encode_timer_unit,
        sample=TIMER,
        ignores_rest=True,
    ),
    "timer slot": Decoder(
        decode=timer_wheel.decode_timer_slot,
        encode=timer_wheel.encode_timer_slot,
        sample=bytes(range(32)),
        ignores_rest=True,
    ),
    "timer checkpoint": Decoder(
        decode=timer_wheel.decode_timer_checkpoint,
        encode=timer_wheel.encode_timer_checkpoint,
        sample=bytes(range(56)),
        ignores_rest=True,
    ),
}

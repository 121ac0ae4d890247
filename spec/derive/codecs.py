"""
Compiled codecs of the layouts that brokers read and write most.
"""

from __future__ import annotations

from spec.derive.struct_codec import compile_codec
from spec.store.consume_queue import unit_layout
from spec.store.message_record import MAGIC_V1, SystemFlag, record_layout
from spec.wire.remoting.frame import frame_layout

_WIDE_HOSTS = SystemFlag.BORN_HOST_V6 | SystemFlag.STORE_HOST_V6

record_codec = compile_codec(
    record_layout, usual=[(MAGIC_V1, 0), (MAGIC_V1, int(_WIDE_HOSTS))]
)
unit_codec = compile_codec(unit_layout, usual=[()])
frame_codec = compile_codec(frame_layout)

"""
The quick readers and writers of the three layouts that a busy broker lives on.
"""

from __future__ import annotations

from spec.derive.struct_codec import compile_codec
from spec.store.consume_queue import unit_layout
from spec.store.message_record import record_layout
from spec.wire.frame import frame_layout

record_codec = compile_codec(record_layout)
unit_codec = compile_codec(unit_layout)
frame_codec = compile_codec(frame_layout)

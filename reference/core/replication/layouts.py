"""
The layouts of replication, compiled: the whole commit log passes through them.

Nothing is declared here: each is derived from its declaration in ``spec.wire``.
"""

from __future__ import annotations

from spec.derive.struct_codec import compile_codec
from spec.wire.replication import piece_layout, slave_offset_layout

piece_codec = compile_codec(piece_layout)
slave_offset_codec = compile_codec(slave_offset_layout)

"""
The layouts of the store, compiled for the paths that every message takes.

Nothing is declared here: each is derived from its declaration in ``spec.store``.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

from spec.derive.codecs import record_codec as record_codec
from spec.derive.walk import View, leaves
from spec.store.blank import blank_layout
from spec.store.checkpoint import checkpoint_layout
from spec.store.consume_queue import unit_layout
from spec.store.index_file import header_layout, item_layout, slot_layout


def fixed(layout: Any) -> Struct:
    """Return the struct of a layout whose fields are all integers."""
    parts = [part for _, part in leaves(layout, View(lambda _: 0))]
    compiled = Struct(">" + "".join(part.fmtstr[1] for part in parts))
    assert compiled.size == layout.sizeof()
    return compiled


unit_codec = fixed(unit_layout)
item_codec = fixed(item_layout)
slot_codec = fixed(slot_layout)
index_header_codec = fixed(header_layout)
checkpoint_codec = fixed(checkpoint_layout)
blank_codec = fixed(blank_layout)

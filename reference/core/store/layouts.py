"""
The layouts of the store, compiled for the paths that every message takes.

Nothing is declared here: each is derived from its declaration in ``spec.store``.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

from construct import Prefixed

from spec.derive.codecs import record_codec as record_codec
from spec.derive.walk import View, leaves
from spec.store.blank import blank_layout
from spec.store.checkpoint import checkpoint_layout
from spec.store.consume_queue import unit_layout
from spec.store.index_file import header_layout, item_layout, slot_layout
from spec.store.message_record import MAGIC_V1, record_layout
from spec.wire.batch_body import batch_message_layout


def fixed(layout: Any) -> Struct:
    """Return the struct of a layout whose fields are all integers."""
    parts = [part for _, part in leaves(layout, View(lambda _: 0))]
    compiled = Struct(">" + "".join(part.fmtstr[1] for part in parts))
    assert compiled.size == layout.sizeof()
    return compiled


def up_to(layout: Any, name: str) -> Struct:
    """Return the struct of what stands before the field *name*, all of it integers.

    Where that field has a size before it, the size is the last of them.
    """
    form = ">"
    for each, part in leaves(layout, View(_OF_A_RECORD.__getitem__)):
        if each == name:
            return Struct(form + (_size_form(part) if type(part) is Prefixed else ""))
        form += part.fmtstr[1]
    raise ValueError(f"no field {name}")


def size_before(layout: Any, name: str) -> Struct:
    """Return the struct of the size that stands before the field *name*."""
    parts = dict(leaves(layout, View(_OF_A_RECORD.__getitem__)))
    return Struct(">" + _size_form(parts[name]))


def _size_form(prefixed: Any) -> str:
    return str(prefixed.lengthfield.fmtstr[1])


_OF_A_RECORD = {"magic": MAGIC_V1, "system_flags": 0}
"""What choices look at; no field before the first choice depends on it."""
unit_codec = fixed(unit_layout)
item_codec = fixed(item_layout)
slot_codec = fixed(slot_layout)
index_header_codec = fixed(header_layout)
checkpoint_codec = fixed(checkpoint_layout)
blank_codec = fixed(blank_layout)
record_head_codec = up_to(record_layout, "system_flags")
"""What differs between the records of a batch, apart from bodies and properties."""
batch_head_codec = up_to(batch_message_layout, "body")
body_prefix = size_before(record_layout, "body")
topic_prefix = size_before(record_layout, "topic")
properties_prefix = size_before(record_layout, "properties")
# A record has both as they came in a batch.
assert body_prefix.format == size_before(batch_message_layout, "body").format
assert (
    properties_prefix.format == size_before(batch_message_layout, "properties").format
)

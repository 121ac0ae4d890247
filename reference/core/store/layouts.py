"""
The layouts of the store, compiled into structs for the paths of every message.

Every struct is derived from its declaration in ``spec.store``; none declares an offset.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

from construct import Bytes, Prefixed

from spec.derive.walk import View, leaves
from spec.store.blank import blank_layout
from spec.store.consume_queue import unit_layout
from spec.store.index_file import header_layout, item_layout, slot_layout
from spec.store.message_record import MAGIC_V1, SystemFlag, record_layout
from spec.wire.send.batch_body import batch_message_layout

BORN_V6 = int(SystemFlag.BORN_HOST_V6)
STORE_V6 = int(SystemFlag.STORE_HOST_V6)
WIDE_HOSTS = BORN_V6 | STORE_V6


def struct_of(
    layout: Any, *, first: str = "", last: str = "", system_flags: int = 0
) -> Struct:
    """Return the struct of the fields from *first* to before *last*.

    Without *first* it begins with the layout, without *last* it ends with it. A field
    with a size in front counts by that size. *system_flags* decide the width of the
    hosts of a record.
    """
    form, is_inside = ">", not first
    choices = {"magic": MAGIC_V1, "system_flags": system_flags}
    for name, part in leaves(layout, View(lambda each: choices.get(each, 0))):
        is_inside |= name == first
        if name == last:
            break
        if is_inside:
            form += _form(part)
    return Struct(form)


def _form(part: Any) -> str:
    if isinstance(part, Prefixed):
        part = part.lengthfield
    return f"{part.sizeof()}s" if isinstance(part, Bytes) else str(part.fmtstr[1])


unit_codec = struct_of(unit_layout)
item_codec = struct_of(item_layout)
slot_codec = struct_of(slot_layout)
index_header_codec = struct_of(header_layout)
blank_codec = struct_of(blank_layout)
batch_head_codec = struct_of(batch_message_layout, last="properties")
record_head_codec = struct_of(record_layout, last="system_flags")
"""The fields that differ between the records of a batch."""
record_middle_codecs = {
    hosts: struct_of(
        record_layout, first="system_flags", last="body", system_flags=hosts
    )
    for hosts in (0, BORN_V6, STORE_V6, WIDE_HOSTS)
}
"""By the host bits of the system flags: the fields between the head and the body."""
record_size_reader = struct_of(record_layout, last="magic")
body_prefix = struct_of(record_layout, first="body", last="topic")
topic_prefix = struct_of(record_layout, first="topic", last="properties")
properties_prefix = struct_of(record_layout, first="properties")
# A batch has its properties in the form in which a record has them.
assert (
    struct_of(batch_message_layout, first="properties").format
    == properties_prefix.format
)

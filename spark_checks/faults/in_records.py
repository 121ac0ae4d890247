"""
Faults of several records, and of bodies with an incomplete compressed frame.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pyarrow as pa

from spark_checks.faults.fault import Expected, Found, at, at_record, at_unit
from spark_checks.faults.places import item_places
from spark_checks.faults.site import Site
from spark_checks.generate.part import Placed
from spec.layout import LayoutError
from spec.store.message_record import Record, SystemFlag, decode_record
from spec.wire.bodies.zlib_stream import LZ4_TYPE, ZSTD_TYPE


def record_zero_page(site: Site) -> Found:
    """Write zeros over half a page, as a lost write leaves them."""
    taken = [*site.take_round(), *site.take_round()]
    file, position = taken[0].record_place
    page = -(-position // 4096) * 4096
    begin = taken[0].offset - position + page
    lost = [m for m in taken if m.offset < begin + 2048 and m.offset + m.size > begin]
    site.overwrite((file, page), bytes(2048))
    also = [e for m in lost for e in _when_lost(site, m)]
    if _is_record(site, lost[0]):  # the page begins among its properties
        torn = lost.pop(0)
        also += [at_record(f"INV-LOG-{number:03d}", torn) for number in (1, 2, 6)]
        also.append(at_unit("INV-CQ-003", torn))
        also += keys_lost(site, torn)
    also += [
        at_record(finding, m)
        for m in taken
        for finding in ("INV-TXN-001", "INV-TXN-002", "INV-DELAY-001")
    ]
    return [at_record("INV-LOG-001", lost[0]), *also]


def _when_lost(site: Site, message: Placed) -> list[Expected]:
    """Return the allowed findings after the loss of the record of *message*."""
    return [
        at_unit("INV-CQ-001", message),
        at_unit("INV-CQ-005", site.after(message)),  # if the whole queue is missing
        at_record("INV-LOG-005", site.after(message)),
    ]


def keys_lost(site: Site, message: Placed) -> list[Expected]:
    """Return the findings if the keys of *message* were changed."""
    items = [at("INV-INDEX-007", place) for place in item_places(site, message)]
    return [*items, at_record("INV-INDEX-008", message)]


def _is_record(site: Site, message: Placed) -> bool:
    """Return whether the bytes in the place of *message* are a record."""
    data = site.read(*message.record_place, message.size)
    try:
        decode_record(data, check_crc=False)
    except LayoutError:
        return False
    return True


def _frame_cut(site: Site, codec: str, flag: int) -> Found:
    """Make a body an incomplete frame of *codec*."""

    def change(record: Record) -> Record:
        size = len(record.body)
        noise = random.Random(size).randbytes(2 * size)  # noqa: S311 # no secret
        whole = pa.Codec(codec).compress(noise, asbytes=True)
        flags = int(SystemFlag.COMPRESSED) | flag
        return replace(record, body=whole[:size], system_flags=flags)

    hit = site.take()
    site.change(hit, change)
    return [at_record("INV-LOG-009", hit)]


record_lz4_cut = partial(_frame_cut, codec="lz4", flag=LZ4_TYPE)
record_zstd_cut = partial(_frame_cut, codec="zstd", flag=ZSTD_TYPE)

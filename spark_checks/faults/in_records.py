"""
Faults of several records: lost pages, incomplete compressed frames, system topics.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import partial

import pyarrow as pa

from spark_checks.faults.fault import Expected, Found, at, at_record, at_unit
from spark_checks.faults.places import item_places
from spark_checks.faults.site import Site
from spark_checks.generate.part import Placed, rounds_of
from spark_checks.generate.plan import ROUND_MS, PlanError
from spark_checks.generate.rounds import Kind
from spark_checks.invariants.transactions import CHECKS_END_MS
from spec.layout import LayoutError
from spec.store.message_record import Record, SystemFlag, decode_record, record_size
from spec.wire.bodies.zlib_stream import LZ4_TYPE, ZSTD_TYPE

EARLY_ROUND = 3
"""Round without other faults, whose half messages are overdue at the store's end."""


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
        also += _keys_lost(site, torn)
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


def _keys_lost(site: Site, message: Placed) -> list[Expected]:
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


def half_undecided(site: Site) -> Found:
    """Make an op message name the previous half message again."""
    plan = site.plan
    last = rounds_of(plan) * plan.files - 1
    if (last - EARLY_ROUND) * ROUND_MS <= CHECKS_END_MS:
        raise PlanError("the store is too short for a half message to get old")
    messages = site.round(EARLY_ROUND)
    noted, forgotten = (m for m in messages if m.kind is Kind.HALF)
    _, hit = (m for m in messages if m.kind is Kind.OP)
    body = str(noted.record.queue_offset).encode()
    site.rewrite(hit, replace(hit.record, body=body))
    return [at_record("INV-TXN-004", forgotten)]


def _in_place_of_next(site: Site, kind: Kind, finding: str, more: str) -> Found:
    """Put a copy of a message of *kind* in place of the next one of its kind."""
    one, other = site.take_kinds(), site.take_kinds()
    source, hit = one[kind], other[kind]
    again = replace(
        source.record,
        physical_offset=hit.offset,
        queue_offset=hit.record.queue_offset,
        stored_at_ms=hit.record.stored_at_ms,
    )
    site.rewrite(hit, _as_large(again, hit.size))
    also = [at_record(more, hit), at_record(more, other[Kind.DELAYED])]
    also += [at_unit("INV-CQ-003", hit), *_keys_lost(site, hit)]
    return [at_record(finding, hit), *also]


def _as_large(record: Record, size: int) -> Record:
    """Return *record* with *size* bytes: without keys, and with a longer WAIT."""
    text = re.sub("KEYS\x01[^\x02]*\x02", "", record.properties)
    bare = replace(record, properties=text)
    value = "true" + "e" * (size - record_size(bare))
    return replace(bare, properties=text.replace("WAIT\x01true", f"WAIT\x01{value}"))


commit_twice = partial(
    _in_place_of_next, kind=Kind.COMMITTED, finding="INV-TXN-003", more="INV-TXN-002"
)
delay_twice = partial(
    _in_place_of_next,
    kind=Kind.DELIVERED,
    finding="INV-DELAY-002",
    more="INV-DELAY-001",
)

"""
Faults of several structures that only a rich store has: extensions, LMQs and pops.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

from spark_checks.faults.fault import FaultList, Found, at, at_record, at_unit
from spark_checks.faults.site import Site
from spark_checks.generate.rounds import Kind
from spec.store.consume_queue import UNIT_SIZE
from spec.store.message_record import Record
from spec.store.queue_extension import EXTENSION
from spec.wire.message.multi_dispatch import OFFSETS

_LMQ_UNIT = "lmq_unit_0"
_ADDRESS_SIZE = 8
"""Bytes of the tags code at the end of a unit, or of its extension's address."""
RICH_FAULTS, POP_FAULTS = FaultList("rich"), FaultList("pops")


@RICH_FAULTS.planting("extension-missing", "no extension")
def _no_extension(site: Site) -> Found:
    queue = site.take_queue()
    topic, queue_id = queue[0].queue
    shutil.rmtree(site.root / EXTENSION / topic / str(queue_id))
    return [at_unit("INV-EXT-001", message) for message in queue]


@RICH_FAULTS.planting("unit-address-next", "the address of the next message")
def _address_of_next(site: Site) -> Found:
    hit = site.take()
    after = site.after(hit)
    file, position = hit.unit_place
    address = after.entries["consume_queue_unit"].data[-_ADDRESS_SIZE:]
    site.overwrite((file, position + UNIT_SIZE - _ADDRESS_SIZE), address)
    return [at("INV-EXT-002", after.entries["consume_queue_extension_unit"].place)]


@RICH_FAULTS.planting("lmq-units-swapped", "two units of an LMQ swapped")
def _lmq_swapped(site: Site) -> Found:
    one, other = (site.take(Kind.LMQ).entries[_LMQ_UNIT] for _ in range(2))
    site.overwrite(one.place, other.data)
    site.overwrite(other.place, one.data)
    return [at("INV-LIGHT-002", entry.place) for entry in (one, other)]


@RICH_FAULTS.planting("lmq-unit-foreign", "a message not named")
def _lmq_of_other_topic(site: Site) -> Found:
    """Give an LMQ's unit the offset and size of another message."""
    place = site.take(Kind.LMQ).entries[_LMQ_UNIT].place
    unit = site.take().entries["consume_queue_unit"].data
    site.overwrite(place, unit[:-_ADDRESS_SIZE])
    return [at("INV-LIGHT-001", place)]


@RICH_FAULTS.planting("lmq-offset", "another offset in the record")
def _other_lmq_offset(site: Site) -> Found:
    hit = site.take(Kind.LMQ)
    site.change(hit, _with_next_lmq_offset)
    return [at("INV-LIGHT-002", hit.entries[_LMQ_UNIT].place)]


def _with_next_lmq_offset(record: Record) -> Record:
    def another(found: re.Match[str]) -> str:
        return f"{found[1]}{(int(found[2]) + 1) % 10},"

    text = re.sub(f"({OFFSETS}\x01[0-9]*)([0-9]),", another, record.properties)
    return replace(record, properties=text)


@POP_FAULTS.planting(
    "acknowledgement-other-message", "an acknowledgement of a message behind the pop"
)
def _other_message(site: Site) -> Found:
    messages = site.take_kinds()
    hit = messages[Kind.ACKNOWLEDGED]
    site.change(hit, _with_other_offset)
    return [
        at_record("INV-POP-004", hit),
        at_record("INV-POP-005", messages[Kind.CHECKPOINT]),
    ]


def _with_other_offset(record: Record) -> Record:
    def another(found: re.Match[bytes]) -> bytes:
        return b"%d" % ((int(found[0]) + 3) % 10)

    body = re.sub(rb'[0-9](?=,"bn")', another, record.body, count=1)
    return replace(record, body=body)

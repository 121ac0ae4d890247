"""Extension files of consume queues, and LMQs, of a target with both enabled."""

from __future__ import annotations

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.client import Client
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.known_settings import need_defaults
from conformance.harness.targets.target import Target
from conformance.store.files.special import (
    EXTENSION_FILE_SIZE,
    LIGHT_COUNT,
    PLAIN_COUNT,
    Special,
    properties_of_plain,
)
from spec.integers import tags_code
from spec.layout import LayoutError
from spec.store.config.filter_settings import FiltersFile
from spec.store.consume_queue import decode_units
from spec.store.message_record import Record
from spec.store.queue_extension import (
    EXTENSION,
    SMALLEST_SIZE,
    ExtensionUnit,
    decode_extension_units,
    has_bits,
    offset_of_address,
)
from spec.wire.bodies.json_body import decode_body
from spec.wire.message.multi_dispatch import dispatches_of
from spec.wire.message.properties import decode_properties

pytestmark = pytest.mark.long

COUNT = PLAIN_COUNT + LIGHT_COUNT
BLOOM_SETTINGS = {"maxErrorRateOfBloomFilter": "20", "expectConsumerNumUseFilter": "32"}
"""Settings that decide about the size of a bitmap: the defaults."""


@pytest.fixture
def units(special: Special) -> dict[int, ExtensionUnit]:
    """Return the extension units of the plain topic by their offset."""
    files = special.files(EXTENSION, special.topic, "0")
    if not files:
        unsupported("the target writes no extension of a consume queue")
    return {
        begin + place: unit
        for begin, data in files.items()
        for place, unit in decode_extension_units(data).items()
    }


def pointed_at(special: Special) -> list[tuple[int, Record]]:
    """Return tags code and record of each unit of the plain topic's queue."""
    log = special.log()
    found = decode_units(special.queue(special.topic))
    return [(unit.tags_code, log[unit.commit_log_offset]) for unit in found]


@pytest.mark.clause("STORE-EXTENSION-001", "STORE-EXTENSION-002", "STORE-EXTENSION-003")
def test_each_unit_has_the_address_of_an_extension_unit(
    special: Special, units: dict[int, ExtensionUnit]
) -> None:
    addresses = [code for code, _ in pointed_at(special)][:COUNT]
    expect(
        "STORE-EXTENSION-003",
        found=[_offset(code) for code in addresses],
        expected=list(units)[:COUNT],
        what="offsets for which the tags codes stand",
    )


@pytest.mark.clause("STORE-EXTENSION-004", "STORE-EXTENSION-005")
def test_an_extension_unit_is_of_its_message(
    special: Special, units: dict[int, ExtensionUnit]
) -> None:
    records = [record for _, record in pointed_at(special)][:COUNT]
    sent = [tags_code(one.get("TAGS")) for one in properties_of_plain(special.lights)]
    found = list(units.values())[:COUNT]
    expect(
        "STORE-EXTENSION-004",
        found=[unit.tags_code for unit in found],
        expected=sent,
        what="tags codes",
    )
    expect(
        "STORE-EXTENSION-005",
        found=[unit.stored_at_ms for unit in found],
        expected=[record.stored_at_ms for record in records],
        what="store times",
    )


@pytest.mark.clause("STORE-EXTENSION-006", "STORE-EXTENSION-007")
def test_a_full_file_ends_with_a_mark(
    special: Special, units: dict[int, ExtensionUnit]
) -> None:
    files = special.files(EXTENSION, special.topic, "0")
    begins = list(range(0, len(files) * EXTENSION_FILE_SIZE, EXTENSION_FILE_SIZE))
    expect("STORE-EXTENSION-007", found=list(files), expected=begins, what="names")
    size = SMALLEST_SIZE + len(next(iter(units.values())).filter_bits)
    room = (EXTENSION_FILE_SIZE - 4) // size
    for data in list(files.values())[:-1]:
        end = room * size
        expect(
            "STORE-EXTENSION-006",
            found=(len(decode_extension_units(data)), data[end : end + 2]),
            expected=(room, b"\xff\xff"),
            what="units of a full file, and the two bytes after them",
        )


@pytest.mark.clause("STORE-EXTENSION-008", "STORE-EXTENSION-009", "STORE-EXTENSION-010")
def test_bits_say_which_messages_an_expression_matches(
    special: Special, units: dict[int, ExtensionUnit], target: Target, broker: Client
) -> None:
    need_defaults(target, BLOOM_SETTINGS, broker.broker_settings())
    expect(
        "STORE-EXTENSION-009",
        found={8 * len(unit.filter_bits) for unit in units.values()},
        expected={112},
        what="bits of the maps",
    )
    path = special.store / "config" / "consumerFilter.json"
    wait_until(
        lambda: path.exists() and special.topic.encode() in path.read_bytes(),
        what="the broker wrote the filter to consumerFilter.json",
        timeout_s=40,
    )
    topics = decode_body(FiltersFile, path.read_bytes()).topics
    bits = topics[special.topic].filters[special.group].bits
    assert bits is not None
    matching = [has_bits(unit.filter_bits, bits.positions) for unit in units.values()]
    expect(
        "STORE-EXTENSION-010",
        found=matching[:COUNT],
        expected=[1 < n < PLAIN_COUNT for n in range(COUNT)],
        what="messages that match",
    )


@pytest.mark.clause(
    "STORE-MULTIDISPATCH-001", "STORE-MULTIDISPATCH-002", "STORE-MULTIDISPATCH-003"
)
def test_a_message_has_a_unit_in_each_light_queue_that_it_names(
    special: Special,
) -> None:
    log = special.log()
    for name in special.lights:
        found = decode_units(special.queue(name))
        records = [log[unit.commit_log_offset] for unit in found]
        expect(
            "STORE-MULTIDISPATCH-001",
            found=[record.topic for record in records],
            expected=[special.topic] * LIGHT_COUNT,
            what=f"topics of the messages in {name}, queue 0",
        )
        for number, record in enumerate(records):
            others = dispatches_of(decode_properties(record.properties))
            expect(
                "STORE-MULTIDISPATCH-002",
                found=[(one.queue, one.queue_offset) for one in others],
                expected=[(other, number) for other in special.lights],
                what="queues and offsets in the properties",
            )


def _offset(code: int) -> int | str:
    try:
        return offset_of_address(code)
    except LayoutError as error:
        return str(error)

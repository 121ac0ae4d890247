"""Checks of a broker's queues after a start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.recovery.load import Acknowledged
from spec.store.message_record import Record, decode_records
from spec.wire.message.properties import Property, decode_properties
from spec.wire.remoting.response_code import ResponseCode

Place = tuple[str, int]
"""A topic and the id of one of its queues."""
Queues = Mapping[Place, Sequence[Record]]
"""Queues, each with the messages that a consumer is handed from its min offset on."""
MOST_NAMED = 5
"""So many messages a failure names; the others are counted."""


def ends_of(broker: Client, topic: str, queue_id: int = 0) -> tuple[int, int]:
    """Return the min and max offset of a queue."""
    least = require_success(broker.min_offset(topic=topic, queue_id=queue_id))
    most = require_success(broker.max_offset(topic=topic, queue_id=queue_id))
    return int(least.fields["offset"]), int(most.fields["offset"])


def pulled(
    broker: Client, topic: str, queue_id: int = 0, *, offset: int = 0
) -> Iterator[Record]:
    """Yield the messages of a queue from *offset* to its end."""
    while True:
        response = broker.pull(topic=topic, queue_id=queue_id, offset=offset)
        if response.code == ResponseCode.SUCCESS:
            yield from decode_records(response.body)
        elif response.code == ResponseCode.PULL_NOT_FOUND:
            return
        following = int(response.fields["nextBeginOffset"])
        if following <= offset:
            return
        offset = following


def queues_of(broker: Client, places: Iterable[Place]) -> dict[Place, list[Record]]:
    """Return the records of each of the queues."""
    return {place: list(pulled(broker, *place)) for place in sorted(set(places))}


def key_of(record: Record) -> str:
    """Return the key of a message, which is empty if it has none."""
    return decode_properties(record.properties).get(Property.KEYS, "")


def found_by_key(broker: Client, topic: str, key: str) -> list[str]:
    """Return the keys of the messages that a query for *key* finds."""
    response = broker.query_message(topic=topic, key=key)
    if response.code != ResponseCode.SUCCESS:
        return []
    return [key_of(record) for record in decode_records(response.body)]


def lost_of(owed: Iterable[Acknowledged], queues: Queues) -> list[Acknowledged]:
    """Return those of *owed* that are not at the offset of their responses."""
    found = {
        (place, record.queue_offset, record.physical_offset): record.body
        for place, records in queues.items()
        for record in records
    }
    return [
        one
        for one in owed
        if one.body
        != found.get(
            ((one.topic, one.queue_id), one.queue_offset, one.commit_log_offset)
        )
    ]


def twice_in(queues: Queues) -> list[str]:
    """Return the keys that more than one message has."""
    counts = Counter(key_of(record) for queue in queues.values() for record in queue)
    return sorted(key for key, count in counts.items() if key and count > 1)


def check_survivors(
    broker: Client, owed: Sequence[Acknowledged], *, clause: str, seed: int
) -> Queues:
    """Check the messages of a broker after a kill; return its queues.

    *clause* is the one about acknowledged messages.
    """
    assert owed, "a kill that took place before any message was answered is no test"
    situation = f"(seed {seed}, {len(owed)} acknowledged)"
    queues = queues_of(broker, ((one.topic, one.queue_id) for one in owed))
    lost = lost_of(owed, queues)
    named = [(one.key, one.queue_id, one.queue_offset) for one in lost[:MOST_NAMED]]
    what = f"{len(lost)} acknowledged messages that are gone {situation}"
    expect(clause, found=named, expected=[], what=what)
    twice = twice_in(queues)[:MOST_NAMED]
    expect(
        "REC-CRASH-001", found=twice, expected=[], what=f"keys found twice {situation}"
    )
    for place, records in queues.items():
        check_ends(broker, place, records, situation=situation)
    return queues


def check_ends(
    broker: Client, place: Place, records: Sequence[Record], *, situation: str = ""
) -> None:
    """Check the offsets of one queue, of which *records* were pulled."""
    least, most = ends_of(broker, *place)
    expect_that(
        "REC-DISPATCH-005",
        0 <= least <= most,
        found=(least, most),
        expected="0 <= min <= max",
        what=f"min and max offset of {place} {situation}",
    )
    expect(
        "REC-CRASH-002",
        found=[record.queue_offset for record in records],
        expected=list(range(least, most)),
        what=f"queue offsets in {place} {situation}",
    )


def check_keys(broker: Client, owed: Iterable[Acknowledged], *, seed: int) -> None:
    """Check whether the index finds each of *owed* by its key, perhaps twice."""
    wrong = {
        one.key: found
        for one in owed
        if {one.key} != set(found := found_by_key(broker, one.topic, one.key))
    }
    some = dict(list(wrong.items())[:MOST_NAMED])
    what = f"{len(wrong)} keys, and what a query finds for them (seed {seed})"
    expect("REC-CRASH-003", found=some, expected={}, what=what)

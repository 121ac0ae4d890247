"""An ageing store loses its oldest files, with no other effect on clients."""

from __future__ import annotations

from itertools import pairwise

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.store.disk.expired_files import (
    CLOCK_RATE,
    EXPIRY_S,
    EXTENSION_FILE_SIZE,
    UNITS_PER_FILE,
    YOUNG,
    Aged,
    Bounds,
    Placed,
)
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import file_name
from spec.wire.remoting.response_code import ResponseCode

pytestmark = [
    pytest.mark.patient,
    pytest.mark.needs("store", "wire", "config", "restart"),
]

AT_ONCE = 10
FIRST_S, PERIOD_S = 60.0, 10.0
EARLY_S = 5.0
"""The pauses between two observations can shorten an interval by this much."""
LATE_S = 8.0
"""Delay of a busy machine; a hastened clock is also read less often."""


def left_of(aged: Aged, topic: str) -> list[Placed]:
    """Return the messages of *topic* that the log still has."""
    return [one for one in aged.before.of(topic) if one.offset >= aged.log_start]


def counts_over_time(aged: Aged) -> list[tuple[float, int]]:
    """Return the count of deleted log files over time: (seconds, files)."""
    count = len(aged.before.log_files)
    return [(at_s, count - len(names)) for at_s, names in aged.sightings]


@pytest.mark.clause("STORE-CLEAN-001")
def test_the_oldest_files_go_and_no_gap_is_left(aged: Aged) -> None:
    files = aged.before.log_files
    for _, names in aged.sightings:
        expected = files[len(files) - len(names) :]
        expect("STORE-CLEAN-001", found=names, expected=expected, what="files")


@pytest.mark.clause("STORE-CLEAN-001")
def test_no_more_than_ten_go_at_a_time(aged: Aged) -> None:
    changes = counts_over_time(aged)[1:]
    # A busy machine may also pause within a round.
    before_pauses = [
        count
        for (at_s, count), (next_s, _) in pairwise(changes)
        if next_s - at_s >= PERIOD_S / 2
    ]
    first = next(iter(before_pauses), 0)
    gone = AT_ONCE if AT_ONCE in before_pauses else first
    expect("STORE-CLEAN-001", found=gone, expected=AT_ONCE, what="files in one round")


@pytest.mark.clause("STORE-CLEAN-002")
def test_a_file_goes_when_its_time_is_over_and_not_before(aged: Aged) -> None:
    young = aged.before.log_files[YOUNG]
    early = [names for at_s, names in aged.sightings if at_s < EXPIRY_S - EARLY_S]
    expect(
        "STORE-CLEAN-002",
        found=early[-1][:1],
        expected=(young,),
        what="oldest file while an hour is not over for it",
    )
    late = aged.sightings[-1][1]
    expect_that(
        "STORE-CLEAN-002",
        young not in late,
        found=late,
        expected=f"{young} has gone",
        what="files afterwards",
    )


@pytest.mark.clause("STORE-CLEAN-001")
def test_the_last_file_stays_however_old_it_is(aged: Aged) -> None:
    expect(
        "STORE-CLEAN-001",
        found=aged.sightings[-1][1],
        expected=aged.before.log_files[-1:],
        what="files that are left",
    )


@pytest.mark.clause("STORE-CLEAN-010")
def test_the_first_round_comes_after_a_minute_and_the_next_ten_seconds_later(
    aged: Aged,
) -> None:
    gone = counts_over_time(aged)
    first_s = next((at_s for at_s, count in gone if count > 0), 0.0)
    second_s = next((at_s for at_s, count in gone if count > AT_ONCE), 0.0)
    late_s = LATE_S + CLOCK_RATE / 10
    expect_that(
        "STORE-CLEAN-010",
        FIRST_S - EARLY_S - aged.start_s <= first_s <= FIRST_S + late_s,
        found=round(first_s, 1),
        expected=f"about {FIRST_S:g}",
        what="seconds from the start to the first deletion",
    )
    expect_that(
        "STORE-CLEAN-010",
        PERIOD_S - EARLY_S <= second_s - first_s <= PERIOD_S + late_s,
        found=round(second_s - first_s, 1),
        expected=f"about {PERIOD_S:g}",
        what="seconds from there to the next round",
    )


@pytest.mark.clause("STORE-CLEAN-004")
def test_a_queue_begins_with_its_first_message_that_is_left(aged: Aged) -> None:
    kept = aged.before.kept
    first = left_of(aged, kept)[0]
    for bounds in (aged.cleaned[kept], aged.restarted[kept]):
        expect(
            "STORE-CLEAN-004",
            found=(bounds.least, bounds.earliest_ms),
            expected=(first.queue_offset, first.stored_at_ms),
            what="min offset and earliest store time",
        )


@pytest.mark.clause("OFFSET-QUERY-004")
def test_a_new_group_has_no_offset_where_messages_are_gone(aged: Aged) -> None:
    expect(
        "OFFSET-QUERY-004",
        found=aged.responses["offset of a new group"].code,
        expected=ResponseCode.QUERY_NOT_FOUND,
        what="code",
    )


@pytest.mark.clause("PULL-MINOFFSET-001")
def test_who_asks_for_what_is_gone_is_sent_to_what_is_left(aged: Aged) -> None:
    first = left_of(aged, aged.before.kept)[0].queue_offset
    response = aged.responses["pull below"]
    expect(
        "PULL-MINOFFSET-001",
        found=(response.code, response.fields.get("nextBeginOffset")),
        expected=(ResponseCode.PULL_OFFSET_MOVED, str(first)),
        what="code and nextBeginOffset",
    )
    expect(
        "PULL-MINOFFSET-001",
        found=aged.responses["pull first"].code,
        expected=ResponseCode.SUCCESS,
        what="code of a pull from there",
    )


@pytest.mark.clause("OFFSET-SEARCH-002", "OFFSET-SEARCH-001")
def test_a_search_finds_only_what_is_left(aged: Aged) -> None:
    left = left_of(aged, aged.before.kept)
    found = {
        name: int(aged.responses[name].fields.get("offset", -1))
        for name in ("search 0", "search first")
    }
    expect(
        "OFFSET-SEARCH-002",
        found=found["search 0"],
        expected=left[0].queue_offset,
        what="offset",
    )
    times = {one.queue_offset: one.stored_at_ms for one in left}
    expect(
        "OFFSET-SEARCH-001",
        found=times.get(found["search first"]),
        expected=left[0].stored_at_ms,
        what=f"store time of the message found, at {found['search first']}",
    )


@pytest.mark.clause("OFFSET-SEARCH-012")
def test_a_search_in_a_queue_that_lost_all_finds_what_was_before(aged: Aged) -> None:
    files = aged.queue_files[aged.before.gone]
    before = int(files[-1]) // UNIT_SIZE - 1
    found = aged.responses["search gone"].fields.get("offset")
    expect("OFFSET-SEARCH-012", found=found, expected=str(before), what="offset")


@pytest.mark.clause("OFFSET-SEARCH-013")
def test_a_search_in_a_queue_that_lost_all_finds_its_end(aged: Aged) -> None:
    end = len(aged.before.of(aged.before.gone))
    found = aged.responses["search gone"].fields.get("offset")
    expect("OFFSET-SEARCH-013", found=found, expected=str(end), what="offset")


@pytest.mark.clause("STORE-CLEAN-005")
def test_queue_files_go_that_point_at_nothing_but_the_last_stays(aged: Aged) -> None:
    size = UNITS_PER_FILE * UNIT_SIZE
    for topic in aged.before.topics:
        placed = aged.before.of(topic)
        first = next(
            (n for n, one in enumerate(placed) if one.offset >= aged.log_start),
            len(placed) - 1,
        )
        numbers = range(
            first // UNITS_PER_FILE, (len(placed) - 1) // UNITS_PER_FILE + 1
        )
        expect(
            "STORE-CLEAN-005",
            found=aged.queue_files[topic],
            expected=tuple(file_name(size * number) for number in numbers),
            what=f"files of queue 0 of {topic}",
        )


@pytest.mark.clause("STORE-EXTENSION-013")
def test_extension_files_go_that_end_before_the_first_unit(aged: Aged) -> None:
    if not any(aged.extension_files.values()):
        unsupported("the target writes no extension of a consume queue")
    kept = aged.before.kept
    placed, gone = aged.before.of(kept), len(aged.before.of(kept))
    gone -= len(left_of(aged, kept))
    # The extension of n messages begins in file n over ten: a file that ends where
    # that one begins is not before it.
    first = max(gone // UNITS_PER_FILE - (gone % UNITS_PER_FILE == 0), 0)
    numbers = range(first, (len(placed) - 1) // UNITS_PER_FILE + 1)
    expect(
        "STORE-EXTENSION-013",
        found=aged.extension_files[kept],
        expected=tuple(file_name(EXTENSION_FILE_SIZE * n) for n in numbers),
        what=f"extension files of queue 0 of {kept}",
    )


@pytest.mark.clause("STORE-CLEAN-006")
def test_index_files_go_whose_messages_are_gone(aged: Aged) -> None:
    names = [name for name, end in aged.before.index if end >= aged.log_start]
    expect(
        "STORE-CLEAN-006",
        found=aged.index_files,
        expected=tuple(names),
        what="index files",
    )
    assert len(names) < len(aged.before.index), "some index files were to go"


@pytest.mark.clause("STORE-CLEAN-007")
def test_a_queue_that_lost_all_begins_where_it_did(aged: Aged) -> None:
    _expect_bounds("STORE-CLEAN-007", aged, at_end=False)


@pytest.mark.clause("STORE-CLEAN-008")
def test_a_queue_that_lost_all_begins_at_its_end(aged: Aged) -> None:
    _expect_bounds("STORE-CLEAN-008", aged, at_end=True)


def _expect_bounds(clause: str, aged: Aged, *, at_end: bool) -> None:
    for topic in (aged.before.gone, aged.before.first):
        count = len(aged.before.of(topic))
        expected = Bounds(least=count if at_end else 0, most=count, earliest_ms=-1)
        for bounds in (aged.cleaned[topic], aged.restarted[topic]):
            expect(clause, found=bounds, expected=expected, what=f"bounds of {topic}")


@pytest.mark.clause("STORE-CLEAN-011")
def test_ends_and_groups_offsets_stay(aged: Aged) -> None:
    for topic in aged.before.topics:
        count = len(aged.before.of(topic))
        found = aged.cleaned[topic].most, aged.restarted[topic].most
        expect(
            "STORE-CLEAN-011",
            found=found,
            expected=(count, count),
            what=f"max offset of {topic} after the deletion, and after a restart",
        )
    expect(
        "STORE-CLEAN-011",
        found=aged.group_offset,
        expected=len(aged.before.of(aged.before.kept)),
        what="offset of a group",
    )


@pytest.mark.clause("STORE-CLEAN-009")
def test_queues_that_lost_all_are_deleted_when_asked_and_begin_anew(
    aged: Aged,
) -> None:
    kept = aged.before.kept
    expect(
        "STORE-CLEAN-009",
        found=aged.expired[kept],
        expected=aged.cleaned[kept],
        what=f"bounds of {kept}",
    )
    for topic in (aged.before.gone, aged.before.first):
        bounds = aged.expired[topic]
        expect(
            "STORE-CLEAN-009",
            found=(bounds.least, bounds.most),
            expected=(0, 0),
            what=f"min and max offset of {topic}",
        )
    expect(
        "STORE-CLEAN-009", found=aged.new_offset, expected=0, what="next queue offset"
    )


@pytest.mark.clause("STORE-CLEAN-013")
def test_a_unit_of_the_logs_first_message_brings_another(aged: Aged) -> None:
    response = aged.responses["pull first of log"]
    first, other = aged.before.placed[0], left_of(aged, aged.before.kept)[0]
    body = response.body
    expect(
        "STORE-CLEAN-013",
        found=(response.code, int.from_bytes(body[28:36], "big")),
        expected=(ResponseCode.SUCCESS, other.offset),
        what=f"code, and physical offset of what is read for that of {first.topic}",
    )


@pytest.mark.clause("STORE-CLEAN-014")
def test_pulls_from_a_queue_that_lost_all_lead_to_its_end(aged: Aged) -> None:
    end = len(aged.before.of(aged.before.gone))
    for name, code, offset in (
        ("pull gone", ResponseCode.PULL_NOT_FOUND, UNITS_PER_FILE),
        ("pull gone units", ResponseCode.PULL_RETRY_IMMEDIATELY, end),
    ):
        response = aged.responses[name]
        expect(
            "STORE-CLEAN-014",
            found=(response.code, response.fields.get("nextBeginOffset")),
            expected=(code, str(offset)),
            what="code and nextBeginOffset",
        )


@pytest.mark.clause("STORE-CLEAN-015")
def test_a_key_of_what_is_gone_finds_nothing(aged: Aged) -> None:
    codes = {name: aged.responses[f"query {name}"].code for name in ("gone", "below")}
    nothing = ResponseCode.QUERY_NOT_FOUND
    expect(
        "STORE-CLEAN-015",
        found=codes,
        expected={"gone": nothing, "below": nothing},
        what="codes of queries for a message of a lost index file and one of another",
    )
    found = aged.responses["query first"].code
    expect("STORE-CLEAN-015", found=found, expected=0, what="code of one that is left")

"""The rules of a start, by release, on plain values."""

from __future__ import annotations

from functools import partial

import pytest

from reference.core.store.recovery.load import DirectoryEntry, load_config, plan_load
from reference.core.store.recovery.queue_end import (
    EmptyLastFileError,
    QueueEnd,
    Unit,
    correct_min_offset,
    correct_min_offset_since_5,
    find_queue_end,
    lacks_unit,
    truncate_queue,
)
from reference.core.store.recovery.rules import REFERENCE, RULES, rules_of
from reference.core.store.recovery.scan import (
    dispatch_start,
    files_behind_end,
    first_file,
    first_record_of,
)
from reference.core.store.types import StoreOptions
from spec.store.checkpoint import SAFETY_MS, Checkpoint
from spec.store.config.config_files import TOPICS_FILE
from spec.store.message_record import MAGIC_V1, MAGIC_V2, Record, encode_record


def record(stored_at_ms: int, place: int = 0) -> bytes:
    """Return the record at *place* of the log."""
    return encode_record(
        Record(
            topic="t",
            queue_id=0,
            queue_offset=0,
            physical_offset=place,
            body=b"body",
            stored_at_ms=stored_at_ms,
        )
    )


def first_index(
    files: list[bytes],
    release: str,
    checkpoint: Checkpoint | None = None,
    *,
    queue_end: int = -1,
) -> int:
    """Return the first file of a recovery, after a crash if there is a checkpoint.

    The names of the files are 100 bytes apart.
    """
    starts = [100 * number for number in range(len(files))]
    return first_file(
        starts,
        lambda start: memoryview(files[start // 100]),
        checkpoint or Checkpoint(),
        StoreOptions(),
        RULES[release],
        queue_end=queue_end,
        is_clean=checkpoint is None,
    )


FILLER: Unit = (0, 2**31 - 1, 0)
NONE: Unit = (0, 0, 0)


def units(*places: int) -> list[Unit]:
    """Return units of ten bytes each at *places*."""
    return [(place, 10, 0) for place in places]


@pytest.mark.parametrize(
    ("release", "names", "deleted", "ignored", "stray"),
    [
        ("4.4.0", ["0"], [], ["1", "2"], None),
        ("4.6.0", ["0"], [], [], "1"),
        ("4.9.7", ["0"], [], [], "1"),
        ("5.3.3", ["0"], [], [], "1"),
    ],
)
def test_a_short_file_in_the_middle(
    release: str,
    names: list[str],
    deleted: list[str],
    ignored: list[str],
    stray: str | None,
) -> None:
    entries = [
        DirectoryEntry("0", 64),
        DirectoryEntry("1", 60),
        DirectoryEntry("2", 64),
    ]
    found = plan_load(entries, 64, rules_of(release))
    assert (found.names, found.deleted) == (names, deleted)
    assert list(found.ignored) == ignored
    assert (found.wrong_file and found.wrong_file.name) == stray


def test_an_empty_last_file_goes_since_5_1_3() -> None:
    entries = [DirectoryEntry("0", 64), DirectoryEntry("64", 0)]
    for release in ("5.1.4", "5.3.3"):
        assert plan_load(entries, 64, RULES[release]).deleted == ["64"]
    for release in ("4.6.0", "5.0.0", "5.1.2"):
        found = plan_load(entries, 64, RULES[release])
        assert found.wrong_file == DirectoryEntry("64", 0)
    inside = plan_load([DirectoryEntry("x", None), *entries[:1]], 64, RULES["5.3.3"])
    assert inside.names == ["0"], "5.x passes over directories"


@pytest.mark.parametrize(
    ("release", "queue_end", "first"),
    [("4.6.0", 0, 2), ("5.3.1", 450, 2), ("5.3.3", 450, 4), ("5.3.3", 200, 2)],
)
def test_where_recovery_begins_after_a_stop(
    release: str, queue_end: int, first: int
) -> None:
    assert first_index([b""] * 5, release, queue_end=queue_end) == first


def test_without_queues_5_3_3_begins_at_the_first_file() -> None:
    assert first_index([b""] * 4, "5.3.3") == 0


@pytest.mark.parametrize(("release", "first"), [("4.6.0", 1), ("5.3.3", 2)])
def test_where_recovery_begins_after_a_crash(release: str, first: int) -> None:
    old, new = (magic.to_bytes(4, "big") for magic in (MAGIC_V1, MAGIC_V2))
    third = record(25).replace(old, new)
    files = [record(10), record(20), third, record(40), b""]

    def first_until(trusted_ms: int) -> int:
        end_ms = trusted_ms + SAFETY_MS
        old_enough = Checkpoint(physic_ms=end_ms, logics_ms=end_ms)
        return first_index(files, release, old_enough)

    assert first_until(30) == first
    assert first_until(9) == 0


@pytest.mark.parametrize(
    ("queues_offset", "logics_ms", "first"),
    [(300, 0, 3), (299, 0, 2), (0, 12, 2), (0, 13, 3), (1_000, 0, 3)],
)
def test_a_crash_since_5_5_begins_by_the_offset_of_the_queues(
    queues_offset: int, logics_ms: int, first: int
) -> None:
    checkpoint = Checkpoint(logics_ms=logics_ms, queues_offset=queues_offset)
    files = [record(10 + number, 100 * number) for number in range(4)]
    assert first_index([*files, b""], "5.5.0", checkpoint) == first


@pytest.mark.parametrize(("release", "first"), [("5.3.3", 0), ("5.4.0", 3)])
def test_recovery_since_5_4_begins_in_the_last_ten_files(
    release: str, first: int
) -> None:
    files = [record(10, 100 * number) for number in range(13)]
    assert first_index(files, release, Checkpoint()) == first
    assert first_index(files, release) == first
    assert first_index(files, release, queue_end=600) == 6


def test_the_whole_first_record_is_checked_since_5_4() -> None:
    good = record(5)
    wrong = good.replace(b"body", b"bad!")
    for release, is_valid in (("5.3.3", True), ("5.4.0", False)):
        rules = RULES[release]
        found = first_record_of(memoryview(wrong), rules, check_crc=True)
        assert found.is_valid == is_valid
        found = first_record_of(memoryview(good), rules, check_crc=True)
        assert (found.is_valid, found.stored_at_ms) == (True, 5)


def test_files_behind_the_end_go() -> None:
    assert files_behind_end([0, 100, 200, 300], 150) == [200, 300]
    assert files_behind_end([0, 100, 200], 200) == []


@pytest.mark.parametrize(
    ("release", "begin"), [("4.4.0", 500), ("4.6.0", 300), ("5.0.0", 500)]
)
def test_where_dispatch_goes_on(release: str, begin: int) -> None:
    assert dispatch_start([100, 300, -1], 0, 500, rules_of(release)) == begin


def test_fillers_hold_dispatch_but_not_that_of_the_reference() -> None:
    reach = [FILLER[0] + FILLER[1]]
    assert dispatch_start(reach, 0, 500, RULES["4.6.0"]) == 2**31 - 1
    assert dispatch_start(reach, 0, 500, REFERENCE) == 500


def test_a_queue_ends_before_the_first_unit_that_is_none() -> None:
    files = [(0, units(0, 10, 20)), (60, [*units(30), NONE, *units(50)])]
    assert find_queue_end(files, 60, RULES["4.6.0"]) == QueueEnd(80, 40)
    assert find_queue_end(files, 60, RULES["4.4.0"]) == QueueEnd(80, 30)


def test_a_cut_makes_a_unit_up_where_the_last_file_has_none() -> None:
    newest_first = [(60, [NONE, NONE]), (0, units(0, 10, 20))]
    cut = truncate_queue(newest_first, 20, RULES["4.6.0"])
    assert (cut.end.position, cut.ends_with_unwritten_unit) == (80, True)
    cut = truncate_queue(newest_first, 20, REFERENCE)
    assert (cut.end.position, cut.ends_with_unwritten_unit, cut.deleted) == (
        40,
        False,
        1,
    )


def test_a_queue_without_units_keeps_its_place_where_that_is_wanted() -> None:
    # The files before were deleted with the log's, the rest is cut off.
    newest_first = [(60, units(100))]
    assert truncate_queue(newest_first, 50, RULES["4.6.0"])[:2] == (QueueEnd(0, 50), 1)
    assert truncate_queue(newest_first, 50, REFERENCE)[:2] == (QueueEnd(60, 50), 0)
    never_deleted = [(0, units(100))]
    assert truncate_queue(never_deleted, 50, REFERENCE)[:2] == (QueueEnd(0, 50), 1)


def test_a_record_is_new_behind_what_the_queue_knows_of() -> None:
    queue = QueueEnd(20, 100)
    assert not lacks_unit(90, 10, queue, RULES["4.6.0"])
    assert lacks_unit(100, 10, queue, RULES["4.6.0"])
    assert not lacks_unit(100, 10, queue, RULES["4.4.0"]), (
        "100 is where the last begins"
    )


def test_a_queue_begins_with_the_first_record_that_is_there() -> None:
    first = (0, units(0, 10, 20))
    assert correct_min_offset(first, QueueEnd(60, 30), before=0, log_start=15) == 40
    assert correct_min_offset(first, QueueEnd(60, 30), before=20, log_start=99) == 20
    last = (0, units(20)[0])
    since_5 = partial(correct_min_offset_since_5, first, last, QueueEnd(60, 30))
    assert since_5(before=0, log_start=99) == 60
    assert since_5(before=20, log_start=0) == 20


def test_an_empty_last_file_ends_the_start_of_5_x() -> None:
    with pytest.raises(EmptyLastFileError):
        correct_min_offset_since_5(
            (0, units(0, 10, 20)), (60, None), QueueEnd(60, 30), before=0, log_start=0
        )


@pytest.mark.parametrize(
    ("text", "backup", "source", "starts"),
    [
        ('{"a": 1}', None, "file", True),
        ("{", '{"a": 1}', "bak", True),
        ("", '{"a": 1}', "bak", True),
        (" \n", '{"a": 1}', "nothing", True),
        ("{", None, "nothing", True),
        ("{", "", "nothing", True),
        ("{", "[", "nothing", False),
        (None, "{", "nothing", False),
        ("[1]", '{"a": 1}', "bak", True),
        ("[]", '{"a": 1}', "nothing", True),
        ("{", "[]", "bak", True),
        ("[1]", None, "nothing", True),
    ],
)
def test_which_copy_of_a_setting_is_read(
    text: str | None, backup: str | None, source: str, starts: bool
) -> None:
    found = load_config(text, backup, dict, rules_of("4.6.0").null_texts(TOPICS_FILE))
    assert (found.source, found.starts) == (source, starts)

"""
Invariants of index files: their sizes, the numbers in their headers, and gaps.

A header repeats facts of the file's items and of the records at which the first and the
last item point. Each number is compared with its source. Only the first and the last
item are read here; the survey counts the slots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from spark_checks.file_systems import reading
from spark_checks.findings import Finding, Severity
from spark_checks.invariants.file_findings import file_finding, places_in
from spark_checks.readers.index import capacity_of
from spark_checks.readers.record_keys import key_batches
from spark_checks.store_files import (
    Store,
    StoreFile,
    index_header,
    read_whole,
    stored_at_ms,
)
from spark_checks.survey.summary import SurveySummary
from spec.layout import LayoutError
from spec.store.index_file import (
    HEADER_SIZE,
    ITEM_SIZE,
    SLOT_SIZE,
    IndexHeader,
    IndexItem,
    decode_header,
    decode_item,
    header_layout,
    item_position,
    slot_count_of,
)

_PLACES = places_in(header_layout)
Wrong = tuple[str, str]
"""Name of a header's field, and the expectation."""
Ranges = Mapping[StoreFile, tuple[int, int]]
"""Begin and end offset of index files, in their order."""


def check_index_headers(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings in the headers of the index files of *store*."""
    sizes = Counter(file.size for file in store.index)
    # A possible size decides between two files.
    votes = {size: (sizes[size], slot_count_of(size) > 0, size) for size in sizes}
    usual = max(votes, key=votes.__getitem__, default=0)
    # Without the files whose header does not agree with their first and last item.
    ranges = {
        file: (header.begin_offset, header.end_offset)
        for file, header in used_index_headers(store)
        if not any(_unlike_items(store, file, header))
    }
    end_before = 0
    for file in store.index:
        if file.size != usual or file.size < HEADER_SIZE + SLOT_SIZE + ITEM_SIZE:
            texts = {"expected": f"{usual} bytes", "found": f"{file.size} bytes"}
            yield file_finding("INV-INDEX-002", file.path, (0, file.size), **texts)
        if file.size >= HEADER_SIZE:
            begin, end = ranges.get(file, (0, 0))
            is_before = file in ranges and begin < end_before
            if is_before and _is_again(store, ranges, file, end_before):
                end_before = 0
            yield from _check_header(store, file, summary, end_before)
            end_before = max(end_before, begin, end)
    yield from _gaps(store, ranges)


def used_index_headers(store: Store) -> Iterator[tuple[StoreFile, IndexHeader]]:
    """Yield the index files of *store* with an item and a possible count, in order."""
    for file in store.index:
        header = index_header(store, file)
        if header is not None and 1 < header.index_count <= capacity_of(file.size):
            yield file, header


def _is_again(store: Store, ranges: Ranges, first: StoreFile, end_before: int) -> bool:
    """Return whether a start after a crash may index again from the file *first* on.

    A broker that is killed while it creates an index file leaves it with an end offset
    of 0. The next start keeps it, and dispatches from the begin of a commit-log file to
    the log's end (5.1.4 store.index.IndexFile#IndexFile, IndexService#buildIndex). Its
    files leave out no key, and end behind *end_before*.
    An exchanged or repeated file leaves out those of its place.
    """
    begin, end = ranges[first]
    log_file = store.log_file_at(begin)
    if log_file is not None and _has_key(store, log_file.base - 1, begin):
        return False
    later = [offsets for file, offsets in ranges.items() if file.name > first.name]
    for begin, end_of_next in later:
        if end > end_before or _has_key(store, end, begin):
            break
        end = max(end, end_of_next)
    return end > end_before


def _has_key(store: Store, after: int, end: int) -> bool:
    """Return whether a record behind *after* and before *end* has a key."""
    return any(
        max(after + 1, file.base) < end
        and after < file.base + file.size
        and _first_with_key(store, file, after, end) is not None
        for file in store.commit_log
    )


def _check_header(
    store: Store, file: StoreFile, summary: SurveySummary, end_before: int
) -> Iterator[Finding]:
    try:
        header = decode_header(read_whole(store.url, file, size_max=HEADER_SIZE))
    except LayoutError as error:
        place = file.path, (error.offset or 0, 4)
        texts = {"expected": "counts of 0 or more", "found": error.reason}
        yield file_finding("INV-INDEX-001", *place, Severity.ERROR, **texts)
        return
    wrong: dict[str, str] = {}
    for name, expected in _wrong_numbers(store, file, header, summary):
        wrong.setdefault(name, expected)
    # Records before the end of the last file are not indexed again: 4.6.0
    # store.index.IndexService#buildIndex.
    if header.index_count > 1 and header.begin_offset < end_before:
        expected = f"a begin offset of at least {end_before}, as the files before"
        wrong.setdefault("begin_offset", expected)
    for name, expected in wrong.items():
        yield file_finding(
            "INV-INDEX-001",
            file.path,
            _PLACES[name],
            expected=expected,
            found=f"{name} {getattr(header, name)}",
        )


def _wrong_numbers(
    store: Store, file: StoreFile, header: IndexHeader, summary: SurveySummary
) -> Iterator[Wrong]:
    """Yield the wrong numbers of a *header*; only the index count if that is wrong."""
    capacity = capacity_of(file.size)
    limit = capacity or (file.size - HEADER_SIZE) // ITEM_SIZE
    if header.index_count > limit:
        yield "index_count", f"an index count of at most {limit}"
        return
    items = header.index_count - 1
    if capacity:
        wrong = dict(_unlike_items(store, file, header))
        yield from wrong.items()
        if "index_count" in wrong:
            return
        # The slot count is that of used slots since 4.7.1, of items before, or between.
        used = summary.slots_used.get(file.path)
        if items > 0 and used is not None and not used <= header.slot_count <= items:
            yield "slot_count", f"a slot count from {used} to {items}"
    yield from _unlike_log(header, store, summary)


def _unlike_items(
    store: Store, file: StoreFile, header: IndexHeader
) -> Iterator[Wrong]:
    """Yield the numbers of *header* that its first and its last item do not have.

    A wrong index count is the only one.
    """
    count, slot_count = max(header.index_count, 1), slot_count_of(file.size)
    with reading(store.url, file.path) as read_at:
        first, last, behind = (
            read_at(item_position(number, slot_count), ITEM_SIZE)
            for number in (1, max(count - 1, 1), count)
        )
    ends = {"begin": ("first", decode_item(first)), "end": ("last", decode_item(last))}
    nothing = IndexItem(key_hash=0, commit_log_offset=0)
    if header.index_count > 1 and decode_item(last) == nothing:
        yield "index_count", "the number behind the last item"
        return
    is_room = count < capacity_of(file.size) and len(behind) == ITEM_SIZE
    if is_room and decode_item(behind) != nothing:
        yield "index_count", "the number behind the last item, which is later"
        return
    for side, (name, item) in ends.items() if header.index_count > 1 else ():
        if getattr(header, f"{side}_offset") != item.commit_log_offset:
            yield f"{side}_offset", f"{item.commit_log_offset}, as the {name} item"
        time_ms = stored_at_ms(store, item.commit_log_offset)
        if time_ms not in (None, getattr(header, f"{side}_stored_at_ms")):
            yield f"{side}_stored_at_ms", f"{time_ms}, as the {name} item's record"


def _unlike_log(
    header: IndexHeader, store: Store, summary: SurveySummary
) -> Iterator[Wrong]:
    """Yield the places and times of *header* that lie outside of the log.

    A sample does not contain the log's end.
    """
    is_whole = store.parts is None and summary.record_count > 0
    last_ms, end = summary.last_stored_at_ms, summary.log_end
    # A broker that was killed while it created the file had set only its begin.
    end_max = header.end_offset if header.index_count > 1 else max(end, 0)
    if not 0 <= header.begin_offset <= end_max:
        yield "begin_offset", f"a begin offset of 0 to {end_max}"
    if is_whole and header.end_offset >= max(end, 1):
        yield "end_offset", f"an end offset before {end}"
    if header.begin_stored_at_ms < 0:
        yield "begin_stored_at_ms", "a begin time of 0 or more"
    if is_whole and last_ms is not None and header.end_stored_at_ms > last_ms:
        yield "end_stored_at_ms", f"an end time of at most {last_ms}"


def _gaps(store: Store, ranges: Ranges) -> Iterator[Finding]:
    """Yield the gaps between index files with these *ranges*, at the file behind each.

    A broker begins the next file when one is full, so that no key lies between them.
    After a crash it deletes its last index files, and dispatches from the begin
    of a commit-log file again (4.6.0 store.CommitLog#recoverAbnormally). A gap that
    ends there has no finding.
    """
    for (_, (_, end_before)), (file, (begin, _)) in pairwise(ranges.items()):
        log_file = store.log_file_at(begin)
        if log_file is None or begin <= end_before:
            continue
        offset = _first_with_key(store, log_file, end_before, begin)
        if offset is not None:
            places = {"begin": begin, "end_before": end_before, "offset": offset}
            yield file_finding(
                "INV-INDEX-011", file.path, _PLACES["begin_offset"], **places
            )


def _first_with_key(store: Store, file: StoreFile, after: int, end: int) -> int | None:
    """Return the first record with a key, behind *after* and before *end*."""
    base = file.base
    where = replace(
        file.whole, start=max(after - base, 0), end=min(end - base, file.size)
    )
    with reading(store.url, file.path) as read_at:
        for batch in key_batches(read_at, where, [(max(after + 1, base), end)]):
            for row in batch.to_pylist():
                if not row["is_tag"]:
                    return int(row["offset"])
    return None

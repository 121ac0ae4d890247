"""
Invariants of the small files beside the log: checkpoint, index headers, configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from spark_checks.findings import Finding, Invariant, Severity
from spark_checks.store_files import Store, StoreFile, reading
from spark_checks.survey.summarise import SurveySummary
from spec.layout import LayoutError
from spec.store import checkpoint, index_file
from spec.store.checkpoint import decode_checkpoint
from spec.store.index_file import HEADER_SIZE, ITEM_SIZE, SLOT_SIZE, decode_header
from spec.wire.bodies import fastjson

CHECKPOINT_READABLE = Invariant(
    id="INV-CHECK-001",
    title="A store has a checkpoint of one page",
    requirement=checkpoint.CHECKPOINT_SIZE,
    cost="After a crash the broker scans its whole log again, or starts with wrong"
    " times.",
)
CHECKPOINT_NOT_AHEAD = Invariant(
    id="INV-CHECK-002",
    title="The checkpoint is not ahead of the commit log",
    requirement=checkpoint.CHECKPOINT_FIELDS,
    cost="After a crash recovery begins too late and does not detect damage in older"
    " files.",
)
INDEX_HEADER = Invariant(
    id="INV-INDEX-001",
    title="An index header agrees with its file and with the commit log",
    requirement=index_file.INDEX_HEADER_FIELDS,
    cost="Messages of this index file are not found by key, or by time.",
)
INDEX_SIZE = Invariant(
    id="INV-INDEX-002",
    title="An index file has room for a header, slots and items",
    requirement=index_file.INDEX_FILE_SIZE,
    cost="The broker maps the file at another size. Lookups by key read zeros.",
)
CONFIGURATION_READABLE = Invariant(
    id="INV-CONFIG-001",
    title="Configuration files are JSON",
    requirement=fastjson.INTEGER_KEYS,
    cost="The broker loads the .bak file, or starts empty: topics, groups or consumed"
    " offsets are lost.",
)


def check_checkpoint(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings in the checkpoint of *store*."""
    file = next((file for file in store.files if file.path == "checkpoint"), None)
    if file is None or file.size != checkpoint.FILE_SIZE:
        size = 0 if file is None else file.size
        if file is not None or summary.record_count:
            yield _finding(
                CHECKPOINT_READABLE,
                "checkpoint",
                (0, size),
                expected=f"a file of {checkpoint.FILE_SIZE} bytes",
                found="no file" if file is None else f"{size} bytes",
                severity=Severity.WARNING if file is None else Severity.ERROR,
            )
    if file is None or file.size < checkpoint.checkpoint_layout.sizeof():
        return
    found = decode_checkpoint(_begin(store, file, checkpoint.FILE_SIZE))
    last_ms = summary.last_stored_at_ms
    for index, name in enumerate(("physic_ms", "logics_ms", "index_ms")):
        time_ms = getattr(found, name)
        if time_ms < 0 or (last_ms is not None and time_ms > last_ms):
            yield _finding(
                CHECKPOINT_NOT_AHEAD,
                "checkpoint",
                (8 * index, 8),
                expected=f"{name} at most {last_ms}, when the last record was stored",
                found=str(time_ms),
                severity=_if_closed(store),
            )


def check_index_headers(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings in the headers of the index files of *store*.

    A sample does not contain the log's end, so each header is checked by itself only.
    """
    if store.parts is not None:
        summary = replace(summary, record_count=0, last_stored_at_ms=None)
    files = [file for file in store.under("index") if file.is_named_by_time]
    sizes = {file.size for file in files}
    for file in files:
        rest = file.size - HEADER_SIZE
        if rest < SLOT_SIZE + ITEM_SIZE or (len(sizes) > 1 and file.size < max(sizes)):
            yield _finding(
                INDEX_SIZE,
                file.path,
                (0, file.size),
                expected=f"{max(sizes)} bytes",
                found=f"{file.size} bytes",
            )
        if file.size >= HEADER_SIZE:
            yield from _check_header(store, file, summary)


def _check_header(
    store: Store, file: StoreFile, summary: SurveySummary
) -> Iterator[Finding]:
    try:
        header = decode_header(_begin(store, file, HEADER_SIZE))
    except LayoutError as error:
        yield _finding(
            INDEX_HEADER,
            file.path,
            (error.offset, 4),
            expected="counts of 0 or more",
            found=error.reason,
        )
        return
    limit = (file.size - HEADER_SIZE) // ITEM_SIZE
    last_ms, end = summary.last_stored_at_ms, summary.log_end
    wrong = {
        (36, 4, f"an index count of at most {limit}", header.index_count): (
            header.index_count > limit
        ),
        (32, 4, "a slot count below the index count", header.slot_count): (
            header.slot_count >= max(header.index_count, 1)
        ),
        (16, 8, f"a begin offset of 0 to {end}", header.begin_offset): (
            not 0 <= header.begin_offset <= header.end_offset
        ),
        (24, 8, f"an end offset before {end}", header.end_offset): (
            summary.record_count > 0 and header.end_offset >= max(end, 1)
        ),
        (0, 8, "a begin time not after the end time", header.begin_stored_at_ms): (
            not 0 <= header.begin_stored_at_ms <= header.end_stored_at_ms
        ),
        (8, 8, f"an end time of at most {last_ms}", header.end_stored_at_ms): (
            last_ms is not None and header.end_stored_at_ms > last_ms
        ),
    }
    for (offset, length, expected, found), is_wrong in wrong.items():
        if is_wrong:
            yield _finding(
                INDEX_HEADER,
                file.path,
                (offset, length),
                expected=expected,
                found=str(found),
                severity=_if_closed(store),
            )


def check_configuration(store: Store) -> Iterator[Finding]:
    """Yield the unreadable configuration files of *store*."""
    for file in store.under("config"):
        wrong = None
        if file.name.endswith(".json"):
            wrong = json_error(_begin(store, file, 1 << 26))
        if wrong is not None:
            offset, reason = wrong
            yield _finding(
                CONFIGURATION_READABLE,
                file.path,
                (offset, file.size),
                expected="JSON",
                found=reason,
            )


def json_error(data: bytes) -> tuple[int, str] | None:
    """Return position and reason if a broker cannot have written *data*; else None.

    fastjson accepts zero bytes within a name and never writes them. They are left by a
    disk that lost a write.
    """
    try:
        fastjson.loads(data)
    except (LayoutError, UnicodeDecodeError) as error:
        return getattr(error, "offset", 0), str(error).splitlines()[0]
    zero = data.find(b"\0")
    return None if zero < 0 else (zero, "a zero byte within a text")


def _begin(store: Store, file: StoreFile, size: int) -> bytes:
    with reading(store.url, file.path) as read_at:
        return read_at(0, min(size, file.size))


def _if_closed(store: Store) -> Severity:
    return Severity.WARNING if store.was_left_open else Severity.ERROR


def _finding(
    invariant: Invariant,
    path: str,
    place: tuple[int, int],
    *,
    expected: str,
    found: str,
    severity: Severity = Severity.ERROR,
) -> Finding:
    return Finding(
        invariant=invariant,
        severity=severity,
        file=path,
        offset=place[0],
        length=place[1],
        expected=expected,
        found=found,
        message=f"{path} has {found}; expected: {expected}.",
    )

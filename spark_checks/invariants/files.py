"""Invariants of file names and sizes, which need no byte of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from spark_checks.findings import Finding, Severity
from spark_checks.invariants.file_findings import file_finding
from spark_checks.store_files import (
    Store,
    StoreFile,
    mapped_file_size,
    queue_file_size,
    queue_of,
)
from spec.store import file_names
from spec.store.batch_queue import BATCH_QUEUE
from spec.store.consume_queue import UNIT_SIZE
from spec.store.queue_extension import EXTENSION


def check_files(
    store: Store, *, log_size: int | None = None, queue_size: int | None = None
) -> Iterator[Finding]:
    """Yield the findings in names and sizes of the files of *store*.

    The sizes are those of the configuration, or None for the most frequent ones.
    """
    groups: dict[str, list[StoreFile]] = {}
    for file in store.files:
        if queue_of(file.path) or file.directory in ("commitlog", "index"):
            groups.setdefault(file.directory, []).append(file)
    queue_size = queue_size or queue_file_size(store)
    log_size = log_size or mapped_file_size(store.under("commitlog"))
    for directory, files in groups.items():
        yield from _wrong_names(files)
        size = log_size if directory == "commitlog" else queue_size
        if directory != "index" and size:
            yield from _wrong_sizes(files, size)
            yield from _gaps(files, size)
    for directory in (EXTENSION, BATCH_QUEUE):
        size = queue_file_size(store, directory)
        yield from _wrong_sizes(store.queue_files(directory), size or 0)


def _wrong_names(files: Sequence[StoreFile]) -> Iterator[Finding]:
    for file in files:
        is_index = file.directory == "index"
        if file.is_named_by_time if is_index else file.is_named_by_offset:
            continue
        digits = file_names.INDEX_NAME_DIGITS if is_index else file_names.NAME_DIGITS
        names = {"digits": digits, "found": file.name}
        yield file_finding("INV-FILE-001", file.path, (0, file.size), **names)


def _wrong_sizes(files: Sequence[StoreFile], size: int) -> Iterator[Finding]:
    """Yield the files of another *size*.

    A broker that is killed between creating and sizing a file leaves the last one
    empty. From 5.1.3 on, the next start deletes it (store.MappedFileQueue#doLoad).
    """
    named = [file for file in files if file.is_named_by_offset]
    for file in named:
        if file.size == size:
            continue
        is_unfinished = not file.size and file is named[-1]
        is_queue = queue_of(file.path) is not None
        part_of_unit = is_queue and file.size % UNIT_SIZE != 0
        name = "INV-FILE-004" if part_of_unit else "INV-FILE-002"
        place = min(file.size, size), abs(size - file.size)
        state = f"has {file.size} bytes, the others have {size}"
        yield file_finding(
            name,
            file.path,
            place,
            Severity.UNFINISHED if is_unfinished else None,
            expected=f"{size} bytes",
            found=f"{file.size} bytes",
            state=state if file.size else "is empty",
        )


def _gaps(files: Sequence[StoreFile], size: int) -> Iterator[Finding]:
    named = [file for file in files if file.is_named_by_offset]
    for before, after in pairwise(named):
        expected, found = before.base + size, after.base
        if found == expected:
            continue
        missing = file_names.file_name(expected)
        path = f"{before.directory}/{missing}"
        message = f"The files between {before.path} and {after.name} are missing."
        if found < expected:
            path = after.path
            message = f"{after.path} begins before {before.name} ends."
        texts = {"expected": missing, "found": after.name, "message": message}
        yield file_finding("INV-FILE-003", path, (0, abs(found - expected)), **texts)

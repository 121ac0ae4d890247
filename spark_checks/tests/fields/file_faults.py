"""
Faults of whole files and pages: missing, renamed, swapped, cut, zero or of another.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from spark_checks.tests.fields.file_fault import FileFault, Place

PAGE = 512
"""Bytes of a lost page, as a disk has it."""
QUEUE = "queue"
"""In place of a folder: the ordinary queue with most files."""
Plant = Callable[[Path], Place]


def longest_queue(root: Path, *, but: str = "") -> str:
    """Return the folder of the ordinary queue with most files, not *but*."""
    queues = [
        path
        for path in sorted(root.glob("consumequeue/*/*"))
        if path.parent.name[0] not in "%SRr" and str(path.relative_to(root)) != but
    ]
    longest = max(queues, key=lambda path: len(list(path.iterdir())))
    return str(longest.relative_to(root))


def _files(root: Path, folder: str) -> list[Path]:
    folder = longest_queue(root) if folder == QUEUE else folder
    return sorted(path for path in (root / folder).iterdir() if path.is_file())


def _file(root: Path, folder: str, position: str) -> Path:
    files = _files(root, folder)
    return files[{"first": 0, "middle": len(files) // 2, "last": -1}[position]]


def _at(root: Path, path: Path, offset: int | None = None) -> Place:
    return Place(file=str(path.relative_to(root)), offset=offset)


def _missing(folder: str, position: str, *, is_elsewhere: bool = False) -> Plant:
    def plant(root: Path) -> Place:
        path = _file(root, folder, position)
        path.unlink()
        return Place() if is_elsewhere else _at(root, path, 0)

    return plant


def _renamed(folder: str) -> Plant:
    """Return a function that makes the number in a name larger by one."""

    def plant(root: Path) -> Place:
        path = _file(root, folder, "middle")
        path.rename(path.with_name(f"{int(path.name) + 1:0{len(path.name)}}"))
        return _at(root, path, 0)

    return plant


def _swapped(folder: str) -> Plant:
    def plant(root: Path) -> Place:
        files = _files(root, folder)
        one, other = files[1], files[2]
        kept = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(kept)
        # The index is wrong from the second of them on, where offsets decrease.
        return _at(root, other, 16) if folder == "index" else _at(root, one)

    return plant


def _of_another(folder: str) -> Plant:
    """Return a function that copies the content of a file to the next."""

    def plant(root: Path) -> Place:
        files = _files(root, folder)
        files[2].write_bytes(files[1].read_bytes())
        return _at(root, files[2], 16 if folder == "index" else None)

    return plant


def _copied(folder: str) -> Plant:
    def plant(root: Path) -> Place:
        path = _file(root, folder, "middle")
        copy = path.with_name(f"{path.name}.bak")
        shutil.copy(path, copy)
        return _at(root, copy, 0)

    return plant


def _resized(
    folder: str, position: str, size_of: Callable[[int], int], *, is_at_begin: bool
) -> Plant:
    """Return a function that changes the size; the finding is at the smaller size."""

    def plant(root: Path) -> Place:
        path = _file(root, folder, position)
        data = path.read_bytes()
        size = size_of(len(data))
        path.write_bytes(data[:size].ljust(size, b"\0"))
        return _at(root, path, 0 if is_at_begin else min(size, len(data)))

    return plant


def _page(folder: str, *, is_zero: bool) -> Plant:
    """Return a function that replaces a page by zeros, or by one of another file."""

    def plant(root: Path) -> Place:
        files = _files(root, folder)
        path, data = files[2], bytearray(files[2].read_bytes())
        size = min(PAGE, len(data) // 4)
        begin = len(data) // 4 // size * size
        page = slice(begin, begin + size)
        data[page] = bytes(size) if is_zero else files[1].read_bytes()[page]
        path.write_bytes(data)
        return _at(root, path)

    return plant


def _queue_missing(root: Path) -> Place:
    queue = longest_queue(root)
    shutil.rmtree(root / queue)
    return Place(file=f"{queue}/{0:020}", offset=0)


def _queues_swapped(root: Path) -> Place:
    one = longest_queue(root)
    other = longest_queue(root, but=one)
    parked = root / "parked"
    (root / one).rename(parked)
    (root / other).rename(root / one)
    parked.rename(root / other)
    return Place(file=f"{one}/{0:020}", offset=0)


def _queue_renamed(root: Path) -> Place:
    """Rename a queue's directory to an id that no queue has."""
    queue = longest_queue(root)
    (root / queue).rename((root / queue).with_name("77"))
    return Place(file=f"{queue}/{0:020}", offset=0)


def _topic_renamed(root: Path) -> Place:
    topic = (root / longest_queue(root)).parent
    topic.rename(topic.with_name("Renamed"))
    return Place(file="config/topics.json", offset=0)


def _of_folder(folder: str, size: str, *, is_index: bool = False) -> list[FileFault]:
    """Return the faults that files of the log, of a queue and of the index share."""
    of_size = (size,)
    prefix = {"commitlog": "log"}.get(folder, folder)
    resized = (
        ("cut", "middle", "a middle file of half the size", lambda n: n // 2 + 1),
        ("cut-last", "last", "a last file of half the size", lambda n: n // 2 + 1),
        ("empty", "middle", "an empty middle file", lambda _: 0),
        ("empty-last", "last", "an empty last file", lambda _: 0),
        ("longer", "middle", "a middle file with zeros appended", lambda n: n + PAGE),
    )
    return [
        FileFault(
            kind=f"{prefix}-copied",
            description="a copy named .bak beside a file",
            plant=_copied(folder),
            findings=("INV-FILE-001",),
        ),
        *(
            FileFault(
                kind=f"{prefix}-{name}",
                description=text,
                plant=_resized(folder, position, size_of, is_at_begin=is_index),
                findings=("INV-FILE-002",)
                if name.startswith("empty") and not is_index
                else of_size,
            )
            for name, position, text, size_of in resized
        ),
    ]


def _fault(
    kind: str,
    description: str,
    plant: Plant,
    *findings: str,
    needs_rows: bool = False,
    severity: str = "error",
    why: str = "",
) -> FileFault:
    return FileFault(
        kind=kind,
        description=description,
        plant=plant,
        findings=findings,
        needs_rows=needs_rows,
        severity=severity,
        why=why,
    )


_EXPIRED = "Deletion of old files leaves the same."
_ON_PURPOSE = (
    "An index that was enabled later, or deleted by an operator, begins later too."
)
LOG_FAULTS = (
    _fault(
        "log-first-missing",
        "the first file",
        _missing("commitlog", "first"),
        why=_EXPIRED,
    ),
    _fault(
        "log-missing", "a middle file", _missing("commitlog", "middle"), "INV-FILE-003"
    ),
    _fault(
        "log-last-missing",
        "the last file; units and index point behind the end",
        _missing("commitlog", "last", is_elsewhere=True),
        *("INV-CHECK-002", "INV-CQ-001", "INV-INDEX-001"),
    ),
    _fault(
        "log-renamed", "a name larger by one", _renamed("commitlog"), "INV-FILE-003"
    ),
    _fault(
        "log-swapped",
        "two files with the names of each other",
        _swapped("commitlog"),
        "INV-LOG-003",
        needs_rows=True,
    ),
    _fault(
        "log-of-another",
        "a file with the content of the file before",
        _of_another("commitlog"),
        "INV-LOG-003",
        needs_rows=True,
    ),
    _fault(
        "log-zeros",
        "a page of zeros",
        _page("commitlog", is_zero=True),
        "INV-LOG-001",
        needs_rows=True,
    ),
    _fault(
        "log-page",
        "a page of the file before",
        _page("commitlog", is_zero=False),
        "INV-LOG-001",
        needs_rows=True,
    ),
    *_of_folder("commitlog", "INV-FILE-002"),
)
QUEUE_FAULTS = (
    _fault(
        "queue-first-missing",
        "the first file, with records in the log",
        _missing(QUEUE, "first"),
        "INV-CQ-005",
        needs_rows=True,
        why="If its records have expired, so has the file.",
    ),
    _fault(
        "queue-file-missing", "a middle file", _missing(QUEUE, "middle"), "INV-FILE-003"
    ),
    _fault(
        "queue-last-missing",
        "the last file",
        _missing(QUEUE, "last"),
        "INV-CQ-005",
        needs_rows=True,
    ),
    _fault(
        "queue-file-renamed", "a name larger by one", _renamed(QUEUE), "INV-FILE-003"
    ),
    _fault(
        "queue-files-swapped",
        "two files with the names of each other",
        _swapped(QUEUE),
        "INV-CQ-004",
        needs_rows=True,
    ),
    _fault(
        "queue-of-another",
        "a file with the content of the file before",
        _of_another(QUEUE),
        "INV-CQ-004",
        needs_rows=True,
    ),
    _fault(
        "queue-zeros",
        "units of zeros",
        _page(QUEUE, is_zero=True),
        *("INV-CQ-005", "INV-CQ-004", "INV-CQ-001"),
        needs_rows=True,
    ),
    _fault(
        "queue-page",
        "units of the file before",
        _page(QUEUE, is_zero=False),
        *("INV-CQ-004", "INV-CQ-001"),
        needs_rows=True,
    ),
    _fault(
        "queue-missing", "a whole queue", _queue_missing, "INV-CQ-005", needs_rows=True
    ),
    _fault(
        "queues-swapped",
        "two queues with the names of each other",
        _queues_swapped,
        "INV-CQ-004",
        needs_rows=True,
    ),
    _fault(
        "queue-renamed",
        "a queue with an id that no queue has",
        _queue_renamed,
        "INV-CQ-005",
        needs_rows=True,
    ),
    _fault(
        "topic-renamed",
        "a topic's directory with another name",
        _topic_renamed,
        "INV-CONFIG-002",
        severity="warning",
    ),
    *_of_folder(QUEUE, "INV-FILE-004"),
)
INDEX_FAULTS = (
    _fault(
        "index-first-missing",
        "the first file",
        _missing("index", "first"),
        why=_ON_PURPOSE,
    ),
    _fault(
        "index-missing",
        "a middle file",
        _missing("index", "middle", is_elsewhere=True),
        "INV-INDEX-011",
        severity="warning",
        why="A crash deletes the last files. A gap that ends at a log file's begin"
        " is not reported.",
    ),
    _fault(
        "index-last-missing",
        "the last file",
        _missing("index", "last", is_elsewhere=True),
        *("INV-INDEX-008",),
        needs_rows=True,
        severity="warning",
        why="It is detected if a record has keys in both files. A broker with"
        " messageIndexEnable=false leaves the same.",
    ),
    _fault(
        "index-renamed",
        "a name larger by a millisecond",
        _renamed("index"),
        why="No release reads the time in the name.",
    ),
    _fault(
        "index-swapped",
        "two files with the names of each other",
        _swapped("index"),
        "INV-INDEX-001",
    ),
    _fault(
        "index-of-another",
        "a file with the content of the file before",
        _of_another("index"),
        "INV-INDEX-001",
    ),
    _fault(
        "index-zeros",
        "a page of zeros",
        _page("index", is_zero=True),
        *("INV-INDEX-003", "INV-INDEX-004", "INV-INDEX-007"),
        needs_rows=True,
    ),
    _fault(
        "index-page",
        "a page of the file before",
        _page("index", is_zero=False),
        *("INV-INDEX-003", "INV-INDEX-004", "INV-INDEX-007"),
        needs_rows=True,
    ),
    *_of_folder("index", "INV-INDEX-002", is_index=True),
)

"""
Bytes of files that the system has not written to its disk yet.

A killed process does not show the losses of a power cut: the system still has its
pages. Linux reports for every mapping of a process how much of it is dirty. A page is
clean as soon as it was written to the disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from conformance.harness.blocked.skips import unsupported
from conformance.harness.process.process import started_processes

_DIRTY = re.compile(r"(?:Shared|Private)_Dirty:\s+(\d+) kB")
_BEGIN = re.compile(r"^(?=[0-9a-f]+-[0-9a-f]+ )", re.MULTILINE)
MAPS = "/proc/{}/smaps"


def dirty_kb(folder: Path) -> int:
    """Return the KiB below *folder* that child processes wrote and the disk lacks."""
    return sum(
        int(size)
        for process in started_processes()
        for mapping in _mappings(process, folder)
        for size in _DIRTY.findall(mapping)
    )


def need_to_see_dirty_pages(folder: Path) -> None:
    """Mark the running test unsupported if the system does not report dirty pages."""
    if not Path(MAPS.format("self")).exists():
        unsupported("this system does not say which pages are dirty")
    mine = [m for process in started_processes() for m in _mappings(process, folder)]
    if not mine:
        unsupported("the target does not map its files")


def _mappings(pid: int, folder: Path) -> Iterator[str]:
    """Yield the report of each mapping of a file below *folder*."""
    try:
        report = Path(MAPS.format(pid)).read_text()
    except OSError:
        return  # it has ended
    for mapping in _BEGIN.split(report):
        if f" {folder}/" in mapping.partition("\n")[0]:
            yield mapping

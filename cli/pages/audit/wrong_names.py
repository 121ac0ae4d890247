"""Missing files of a log or queue, which lie beside it under another name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from spark_checks.store_files import Store

_OFFSET = re.compile(r"(?<!\d)\d{20}(?!\d)|^\d{1,19}$")
UNPACKERS = {
    ".gz": "gunzip",
    ".bz2": "bunzip2",
    ".xz": "unxz",
    ".zst": "unzstd --rm",
}
"""Command that leaves the unpacked file in place of the compressed one."""


def missing_files(store: Store, paths: Iterable[str]) -> Mapping[str, str]:
    """Return the path of the missing file that each of *paths* holds, if one does.

    Its name contains the offset, or is one without zeros before it. It is compressed,
    or has the size of the others. Retention deletes the first files: one before the
    others counts without a gap only.
    """
    offsets = {path: _OFFSET.search(path.rpartition("/")[2]) for path in paths}
    bases = {path: int(one[0]) for path, one in offsets.items() if one}
    found: dict[str, str] = {}
    for path in sorted(bases, key=lambda path: bases[path], reverse=True):
        base, directory = bases[path], path.rpartition("/")[0]
        file = store.file(path)
        if file is None or directory == "index":
            continue
        named = [one for one in store.under(directory) if one.is_named_by_offset]
        size = named[0].size if named else file.size
        again = [bases[one] for one in found if one.rpartition("/")[0] == directory]
        present = [*again, *(one.base for one in named)]
        missing = f"{directory}/{base:020}"
        is_whole = path.removeprefix(missing) in UNPACKERS or file.size == size
        is_linked = not present or base + size >= min(present)
        if is_whole and is_linked and base not in present:
            found[path] = missing
    return found

"""Missing files of a log or queue, which lie beside it under another name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from spark_checks.store_files import Store

_OFFSET = re.compile(r"(?<!\d)\d{20}(?!\d)")
COMPRESSED = ".gz"


def missing_files(store: Store, paths: Iterable[str]) -> Mapping[str, str]:
    """Return the path of the missing file that each of *paths* holds, if one does.

    The name contains its offset, and it is compressed or has the size of the others.
    Retention deletes the first files: one before the others counts without a gap only.
    """
    found: dict[str, str] = {}
    for path in sorted(paths, reverse=True):
        directory, _, name = path.rpartition("/")
        file, offset = store.file(path), _OFFSET.search(name)
        if file is None or offset is None or directory == "index":
            continue
        named = [one for one in store.under(directory) if one.is_named_by_offset]
        size = named[0].size if named else file.size
        again = [int(one[-20:]) for one in found.values() if one[:-21] == directory]
        present = [*again, *(one.base for one in named)]
        base = int(offset[0])
        missing = f"{directory}/{offset[0]}"
        is_whole = path == missing + COMPRESSED or file.size == size
        is_linked = not present or base + size >= min(present)
        if is_whole and is_linked and base not in present:
            found[path] = missing
    return found

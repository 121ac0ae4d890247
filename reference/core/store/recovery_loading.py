"""
Which files a start takes up, which it deletes, and which keep it from starting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reference.core.store.recovery_rules import RecoveryRules, Stray
from spec.layout import LayoutError
from spec.wire.fastjson import loads


class Entry(NamedTuple):
    """A name in a directory."""

    name: str
    size: int | None
    """None for what is no file."""


class Loading(NamedTuple):
    """What becomes of the files of one directory."""

    names: list[str]
    """They make the row, the oldest first."""
    deleted: list[str]
    ignored: list[str]
    """They are not looked at, although they are there."""
    stray: Entry | None
    """It keeps the broker from starting."""


def loading(entries: Sequence[Entry], file_size: int, rules: RecoveryRules) -> Loading:
    """Return what becomes of *entries*, the sorted content of a log's directory.

    4.6.0 org.apache.rocketmq.store.MappedFileQueue#load.
    """
    names: list[str] = []
    deleted: list[str] = []
    for number, entry in enumerate(entries):
        passes_over = rules.stray is Stray.EMPTY_LAST_GOES
        if passes_over and entry.size is None:
            continue
        if passes_over and entry.size == 0 and number == len(entries) - 1:
            deleted.append(entry.name)  # [REC-BEGIN-005]
        elif entry.size != file_size:
            if rules.stray is Stray.ENDS_THE_ROW:
                ignored = [one.name for one in entries[number:]]
                return Loading(names, deleted, ignored, None)
            return Loading(names, deleted, [], entry)  # [REC-BEGIN-004]
        elif not is_offset(entry.name):
            return Loading(names, deleted, [], entry)
        else:
            names.append(entry.name)
    return Loading(names, deleted, [], None)


def stray_says(directory: str, stray: Entry, file_size: int) -> str:
    """Return in a line why *stray* keeps a broker from starting."""
    path = f"{directory}/{stray.name}"
    if stray.size is None:
        return f"{path} is no file"
    if stray.size == file_size:
        return f"{path} is not named by an offset"
    return f"{path} has {stray.size} bytes, not {file_size}"


def is_offset(name: str) -> bool:
    """Return whether *name* is a number that can be an offset."""
    return name.isascii() and name.isdigit() and int(name) < 2**63


def keeps_index_file(
    end_ms: int, *, index_ms: int, is_full: bool, rules: RecoveryRules
) -> bool:
    """Return whether a start after a crash keeps an index file that ends at a time.

    4.6.0 org.apache.rocketmq.store.index.IndexService#load. [REC-CHECKPOINT-002]
    """
    return end_ms <= index_ms and (is_full or rules.keeps_filling_index_files)


class ConfigReading(NamedTuple):
    """What a broker made of one JSON file of its configuration."""

    source: str
    """``file``, ``bak`` or ``nothing``."""
    value: dict[object, object] | None
    starts: bool
    says: str


def read_config(
    text: str | None,
    backup: str | None,
    accepts: Callable[[object], bool] = lambda _: True,
) -> ConfigReading:
    """Return which of a file and its .bak a broker reads.

    4.6.0 org.apache.rocketmq.common.ConfigManager#load: a missing or empty .bak is
    no fault, a broken one is, when the file itself could not be read.
    """
    value, is_fine = _decoded(text, accepts)
    if text and is_fine:
        return ConfigReading("file", value, True, "read")
    fault = "is broken" if text else "is empty" if text == "" else "is missing"
    value, is_fine = _decoded(backup, accepts)
    if backup and is_fine:  # [STORE-CONFIG-013]
        return ConfigReading("bak", value, True, f"{fault}; its .bak is read")
    if backup:
        return ConfigReading("nothing", None, False, f"{fault}, its .bak is broken")
    return ConfigReading("nothing", None, True, f"{fault}, and there is no .bak")


def _decoded(
    text: str | None, accepts: Callable[[object], bool]
) -> tuple[dict[object, object] | None, bool]:
    """Return the object in *text*, and whether it can be read; blanks can."""
    if text is None or not text.strip() or text.strip() == "null":
        return None, True
    try:
        value = loads(text)
    except LayoutError:
        return None, False
    if not isinstance(value, dict) or not accepts(value):
        return None, False
    return value, True

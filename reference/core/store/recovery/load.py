"""
The load plan: files that a start loads, deletes or ignores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

from reference.core.store.recovery.rules import RecoveryRules, WrongSizeFilePolicy
from reference.core.unexpected import error_text
from spec.layout import LayoutError
from spec.wire.bodies.fastjson import loads
from spec.wire.bodies.json_object import JsonObject


class DirectoryEntry(NamedTuple):
    """A name in a directory."""

    name: str
    size: int | None
    """Size in bytes; None for an entry that is not a file."""


class LoadPlan(NamedTuple):
    """The files of one directory by their treatment at a start."""

    names: list[str]
    """Files to load, the oldest first."""
    deleted: list[str]
    ignored: Sequence[str] = ()
    """Existing files that the broker does not read."""
    wrong_file: DirectoryEntry | None = None
    """The file that prevents the start, or None."""


def plan_load(
    entries: Sequence[DirectoryEntry], file_size: int, rules: RecoveryRules
) -> LoadPlan:
    """Plan the load of *entries*, the sorted content of a log's directory.

    4.6.0 org.apache.rocketmq.store.MappedFileQueue#load.
    """
    names: list[str] = []
    deleted: list[str] = []
    for number, entry in enumerate(entries):
        passes_over = rules.wrong_size_file is WrongSizeFilePolicy.DELETE_EMPTY_LAST
        if passes_over and entry.size is None:
            continue
        if passes_over and entry.size == 0 and number == len(entries) - 1:
            deleted.append(entry.name)  # [REC-LOAD-002]
        elif entry.size != file_size:
            if rules.wrong_size_file is WrongSizeFilePolicy.IGNORE_REST:
                ignored = [one.name for one in entries[number:]]
                return LoadPlan(names, deleted, ignored=ignored)
            return LoadPlan(names, deleted, wrong_file=entry)  # [REC-LOAD-001]
        elif not is_offset(entry.name):
            return LoadPlan(names, deleted, wrong_file=entry)
        else:
            names.append(entry.name)
    return LoadPlan(names, deleted)


def describe_wrong_file(
    directory: str, wrong_file: DirectoryEntry, file_size: int
) -> str:
    """Return one line: the reason why *wrong_file* prevents a start."""
    path = f"{directory}/{wrong_file.name}"
    if wrong_file.size is None:
        return f"{path} is no file"
    if wrong_file.size == file_size:
        return f"{path} is not named by an offset"
    return f"{path} has {wrong_file.size} bytes, not {file_size}"


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


Decoded = TypeVar("Decoded")
_WRONG_SHAPE = (ValueError, TypeError, AttributeError, KeyError, OverflowError)
"""Errors of reading JSON whose values have other types; LayoutError is a ValueError."""


class LoadedConfig(NamedTuple, Generic[Decoded]):
    """One JSON file of the configuration, as a broker loaded it."""

    source: str
    """``file``, ``bak`` or ``nothing``."""
    report: str
    """The state of the file, such as ``is empty; its .bak is read``."""
    value: Decoded | None = None
    """The decoded file or .bak; None without either."""
    starts: bool = True
    """Whether the broker starts with it."""


def load_config(
    text: str | None,
    backup: str | None,
    decode: Callable[[JsonObject], Decoded],
    null_texts: Collection[str],
) -> LoadedConfig[Decoded]:
    """Load a configuration file or, if it is unreadable, its ``.bak``.

    *decode* may raise any error of values of the wrong type. A file that is one of
    *null_texts* (`RecoveryRules.null_texts`) is read as nothing, without its .bak.
    4.6.0 org.apache.rocketmq.common.ConfigManager#load. A missing or empty ``.bak`` is
    accepted. An unreadable one prevents the start.
    """
    if text and _normalized(text) in null_texts:
        content = text.strip() or "blank"
        return LoadedConfig("nothing", f"is {content}: nothing is read")
    value, error = _decoded(text, decode, null_texts)
    if text and not error:
        return LoadedConfig("file", "read", value)
    fault = "is missing" if text is None else "is empty"
    if text and text.strip():
        fault = f"is broken ({error})"
    value, error = _decoded(backup, decode, null_texts)
    if backup and not error:  # [STORE-CONFIG-013]
        return LoadedConfig("bak", f"{fault}; its .bak is read", value)
    if backup:
        report = f"{fault}, its .bak is broken"
        return LoadedConfig("nothing", report, starts=False)
    copy = "there is no .bak" if backup is None else "its .bak is empty"
    return LoadedConfig("nothing", f"{fault}, and {copy}")


def _normalized(text: str) -> str:
    """Return *text* without white space around it, and one space for that inside."""
    return " ".join(text.split(maxsplit=2))


def _decoded(
    text: str | None,
    decode: Callable[[JsonObject], Decoded],
    null_texts: Collection[str],
) -> tuple[Decoded | None, str]:
    """Return the decoded *text*, or None with the error; no text has no error."""
    if not text or _normalized(text) in null_texts:
        return None, ""
    try:
        value = loads(text)
        if not isinstance(value, dict):
            return None, "it is no object"
        return decode(value), ""
    except _WRONG_SHAPE as error:
        is_own = isinstance(error, LayoutError)  # its text needs no class
        return None, str(error) if is_own else error_text(error)

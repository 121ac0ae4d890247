"""Damages of the files in ``config``: settings and offsets, no messages."""

from __future__ import annotations

import re
import shutil

from conformance.damages.base_store import BILLS, GROUP, ORDERS
from conformance.damages.damage import Catalogue, StoreCopy, remove
from spec.store.config.config_files import (
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    GROUPS_FILE,
    TOPICS_FILE,
)

SETTINGS = Catalogue()

GARBAGE = '{"offsetTable":{"Dam'
"""Content of an incomplete write."""
FAR = 1000


def corrupt(store: StoreCopy, name: str, *, backup: bool) -> None:
    """Leave the beginning of a file, and the whole of it as .bak or no such file."""
    if backup:
        shutil.copyfile(store.config(name), store.backup(name))
    elif store.backup(name).exists():
        remove(store.backup(name))
    store.config(name).write_text(GARBAGE)


def change(store: StoreCopy, name: str, pattern: str, replacement: str) -> None:
    """Replace what *pattern* finds in a file, which must be there once."""
    text, count = re.subn(pattern, replacement, store.config(name).read_text())
    assert count == 1, f"{name}: {pattern} was found {count} times"
    store.config(name).write_text(text)


@SETTINGS.add()
def topics_garbage(store: StoreCopy) -> None:
    """topics.json was cut short, and there is no other."""
    corrupt(store, TOPICS_FILE, backup=False)


@SETTINGS.add()
def topics_garbage_with_backup(store: StoreCopy) -> None:
    """topics.json was cut short, and there is a .bak."""
    corrupt(store, TOPICS_FILE, backup=True)


@SETTINGS.add()
def topics_empty(store: StoreCopy) -> None:
    """topics.json has no bytes, and there is no .bak."""
    store.config(TOPICS_FILE).write_bytes(b"")


@SETTINGS.add()
def topics_missing(store: StoreCopy) -> None:
    """There is no topics.json."""
    remove(store.config(TOPICS_FILE))


@SETTINGS.add()
def groups_garbage(store: StoreCopy) -> None:
    """subscriptionGroup.json was cut short, and there is no other."""
    corrupt(store, GROUPS_FILE, backup=False)


@SETTINGS.add()
def groups_garbage_with_backup(store: StoreCopy) -> None:
    """subscriptionGroup.json was cut short, and there is a .bak."""
    corrupt(store, GROUPS_FILE, backup=True)


@SETTINGS.add()
def consumer_offsets_garbage(store: StoreCopy) -> None:
    """consumerOffset.json was cut short, and there is no other."""
    corrupt(store, CONSUMER_OFFSETS_FILE, backup=False)


@SETTINGS.add()
def consumer_offsets_garbage_with_backup(store: StoreCopy) -> None:
    """consumerOffset.json was cut short, and there is a .bak."""
    corrupt(store, CONSUMER_OFFSETS_FILE, backup=True)


@SETTINGS.add()
def consumer_offsets_empty_with_backup(store: StoreCopy) -> None:
    """consumerOffset.json has no bytes, and there is a .bak."""
    corrupt(store, CONSUMER_OFFSETS_FILE, backup=True)
    store.config(CONSUMER_OFFSETS_FILE).write_bytes(b"")


@SETTINGS.add()
def consumer_offsets_missing(store: StoreCopy) -> None:
    """There is no consumerOffset.json, and no .bak."""
    remove(store.config(CONSUMER_OFFSETS_FILE))


@SETTINGS.add(after_crash=True)
def consumer_offset_ahead(store: StoreCopy) -> None:
    """A group has committed more than there is."""
    change(store, CONSUMER_OFFSETS_FILE, rf'({BILLS}@{GROUP}":{{0:)12', rf"\g<1>{FAR}")


@SETTINGS.add()
def consumer_offset_of_a_lost_queue(store: StoreCopy) -> None:
    """A group has committed an offset in a queue of which there are no files."""
    change(
        store,
        CONSUMER_OFFSETS_FILE,
        rf'({ORDERS}@{GROUP}":{{0:5)',
        r"\g<1>,7:9",
    )


@SETTINGS.add()
def delay_offset_ahead(store: StoreCopy) -> None:
    """A delay level's offset is ahead of its queue."""
    change(store, DELAY_OFFSETS_FILE, r"3:0", f"3:{FAR}")


REDELIVERED = (
    *("log.end", "log.max", "queues", "messages", "delay_offsets"),
    "config.config/delayOffset.json",
)
"""Changes caused by two delayed messages that are delivered again later."""


@SETTINGS.add(unsettled=REDELIVERED)
def delay_offsets_garbage(store: StoreCopy) -> None:
    """delayOffset.json was cut short, and there is no other."""
    corrupt(store, DELAY_OFFSETS_FILE, backup=False)


@SETTINGS.add()
def delay_offsets_garbage_with_backup(store: StoreCopy) -> None:
    """delayOffset.json was cut short, and there is a .bak."""
    corrupt(store, DELAY_OFFSETS_FILE, backup=True)

"""
Messages that a start keeps of each damaged store, and messages that salvage keeps.

A start is that of a real broker of the release, as it was recorded. Both count messages
with their body and properties. Delayed messages count in the queue of their topic, once
they are delivered. ``python -m conformance.damages.salvaged_messages`` writes the table
of docs/salvage.md.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from conformance.damages.command_process import Command, running_command
from conformance.damages.damage import Damage
from conformance.damages.damages import DAMAGES
from conformance.damages.recorded_stores import (
    damaged_copy,
    known_messages,
    recorded_outcomes,
    recorded_releases,
    store_of,
)
from conformance.damages.served_messages import Message, Queue, messages_in
from conformance.harness.targets.store_files import StoreFiles
from spec.layout import LayoutError
from spec.store.message_record import decode_record
from spec.wire.message.topic_names import SCHEDULE_TOPIC

PAGE = Path(__file__).parents[2] / "docs" / "salvage.md"
Content: TypeAlias = tuple[Queue, bytes, str]
"""Queue, body and properties of a message."""
NOT_SALVAGED = 2
"""Exit code of ``rmqc salvage`` for a store that it cannot read."""


class MessageCounts(NamedTuple):
    """Numbers of messages of one damaged store."""

    before: int
    """Messages in the queues before the damage."""
    start: int
    """Messages that a started broker serves."""
    salvage: int
    """Messages in the queues of the salvaged store."""


def kept_messages(
    rmqc: Command, release: str, damage: Damage, directory: Path
) -> MessageCounts:
    """Return the numbers for *damage* of the recorded store of *release*.

    The damaged and the salvaged store are written below *directory*.
    """
    whole = store_of(release)
    before = dict(_contents(whole))
    store = damaged_copy(release, damage, directory)
    return MessageCounts(
        before=len(before),
        start=_kept_by_start(release, damage, store, before),
        salvage=_kept_by_salvage(rmqc, store, before),
    )


def _contents(store: Path) -> Iterator[tuple[Message, Content]]:
    """Yield the messages in the queues of *store* that can be decoded."""
    files = StoreFiles(store)
    for message in messages_in(store):
        content = _content_at(files, message)
        if content is not None and message.topic != SCHEDULE_TOPIC:
            yield message, content


def _content_at(files: StoreFiles, message: Message) -> Content | None:
    """Return the content of the record of *message*, or None without a valid record."""
    data = files.record_bytes(message.commit_log_offset)
    try:
        record = decode_record(data or b"")
    except LayoutError:
        return None
    return (record.topic, record.queue_id), record.body, record.properties


def _kept_by_start(
    release: str, damage: Damage, store: Path, before: Mapping[Message, Content]
) -> int:
    """Return the number of messages that a broker serves, as recorded."""
    outcome = recorded_outcomes(release)[damage.name]
    if not outcome["starts"]:
        return 0
    not_served = {
        (span["topic"], span["queue"], number)
        for kind in ("lost", "invisible")
        for span in outcome["messages"][kind]
        for number in range(int(span["from"]), int(span["to"]))
    }
    files = StoreFiles(store)
    known = set(known_messages(release, store))
    return sum(
        message in known
        and (*message.queue, message.queue_offset) not in not_served
        and _content_at(files, message) == content
        for message, content in before.items()
    )


def _kept_by_salvage(
    rmqc: Command, store: Path, before: Mapping[Message, Content]
) -> int:
    """Return the number of messages that the salvaged *store* has."""
    new = store.with_name("salvaged")
    code, text = rmqc(["salvage", str(store), "-o", str(new), "--format", "json"])
    if code == NOT_SALVAGED:
        return 0
    assert code in (0, 1), f"exit code {code}: {text}"
    salvaged = Counter(content for _, content in _contents(new))
    return (salvaged & Counter(before.values())).total()


def table_row(name: str, numbers: Mapping[str, MessageCounts]) -> str:
    """Return the row of one damage, with its numbers by release."""
    cells = [str(number) for kept in numbers.values() for number in kept]
    return f"| `{name}` | {DAMAGES[name].description} | {' | '.join(cells)} |"


def numbers_on_page(page: str) -> Mapping[str, Mapping[str, MessageCounts]]:
    """Return the numbers in the table of *page*, by damage and release."""
    found = {}
    for line in page.splitlines():
        if line.startswith("| `"):
            name, _, *cells = line.strip("| ").split(" | ")
            numbers = iter(map(int, cells))
            found[name.strip("`")] = {
                release: MessageCounts(next(numbers), next(numbers), next(numbers))
                for release in recorded_releases()
            }
    return found


def main() -> None:
    """Write the rows of the page."""
    lines = PAGE.read_text("utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("| `")]
    with running_command() as rmqc, tempfile.TemporaryDirectory() as directory:
        for name, damage in DAMAGES.items():
            numbers = {
                release: kept_messages(
                    rmqc, release, damage, Path(directory, f"{name}-{release}")
                )
                for release in recorded_releases()
            }
            kept.append(table_row(name, numbers))
    PAGE.write_text("\n".join(kept) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(DAMAGES)} rows in {PAGE}\n")


if __name__ == "__main__":
    main()

"""The report of ``rmqc recover``: JSON for programs, text for an operator."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cli.runs.stores.commit_log_files import commit_log_files
from reference.core.recovery_forecast.outcome import (
    ConfigRead,
    LaterStart,
    MessageRange,
    OffsetOutside,
    Outcome,
    messages_in,
)
from reference.core.recovery_forecast.queue_state import QueueState
from reference.core.recovery_forecast.store_view import StartRefusedError
from reference.core.store.recovery.load import is_offset
from spec.printable import printable
from spec.store.config.config_files import (
    CONSUMER_FILTERS_FILE,
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    GROUPS_FILE,
    LMQ_CONSUMER_OFFSETS_FILE,
    TOPICS_FILE,
)
from spec.store.file_names import (
    COMMIT_LOG,
    CONSUME_QUEUE,
    LOCK,
    NAME_DIGITS,
    ROCKSDB_QUEUES,
    file_name,
)
from spec.store.rocksdb_files import DATABASE_OPENS

if TYPE_CHECKING:
    from cli.runs.stores.recover_copy import CopyRecovered

RANGES_SHOWN = 20
DAMAGED_BATCH = (
    "A pull that reaches such an offset returns the damaged bytes: its consumer may"
    " lose the batch of up to 32 messages, or receive garbage."
)
_CONTENT = {
    TOPICS_FILE: "topics",
    CONSUMER_OFFSETS_FILE: "offsets of all groups",
    LMQ_CONSUMER_OFFSETS_FILE: "offsets of all groups",
    GROUPS_FILE: "subscription groups",
    CONSUMER_FILTERS_FILE: "filters of consumers",
    DELAY_OFFSETS_FILE: "offsets of all delay levels",
}


def _is_stray(file: str) -> bool:
    """Return whether *file* of a store is among log or queue files, but none itself."""
    place, *parents = file.split("/")
    if not parents or place not in (COMMIT_LOG, CONSUME_QUEUE):
        return False
    is_queue = place == CONSUME_QUEUE and len(parents) == 2
    name = parents[-1]
    return not is_offset(name) or (len(name) != NAME_DIGITS and not is_queue)


def as_json(store: str, outcome: Outcome, done: CopyRecovered | None = None) -> str:
    """Return everything that is known, 64-bit values as strings."""
    found = as_object(store, outcome)
    if done is not None:
        found["copy"] = {"path": done.path, "says": done.report}
    return json.dumps(found, indent=2) + "\n"


def as_object(store: str, outcome: Outcome) -> dict[str, object]:
    """Return the same as an object."""
    log, refusal = outcome.log, outcome.refusal
    begins = log.recovery_begins
    return {
        "schema": 1,
        "store": store,
        "release": outcome.release,
        "starts": refusal is None,
        "refusal": None if refusal is None else _refusal(refusal),
        "after": "crash" if outcome.after_crash else "stop",
        "log": {
            "recovery_begins": None if begins is None else str(begins),
            "end": str(log.next_place),
            "end_on_disk": str(log.end_on_disk),
            "cut_bytes": str(log.cut_bytes),
            "deleted_files": log.deleted_files,
            "min": str(log.start),
            "max": str(log.end),
        },
        "queues": _queues(outcome.queues),
        "totals": {
            "lost": messages_in(outcome.lost),
            "unreadable": messages_in(outcome.unreadable),
            "destroyed": messages_in(outcome.destroyed),
            "invisible": messages_in(outcome.invisible),
            "of_deleted_topics": messages_in(outcome.of_deleted_topics),
            "repeated": messages_in(outcome.repeated),
        },
        "messages": {
            "lost": [_range(one) for one in outcome.lost],
            "invisible": [_range(one) for one in outcome.invisible],
            "of_deleted_topics": [_range(one) for one in outcome.of_deleted_topics],
            "repeated": [_range(one) for one in outcome.repeated],
        },
        "offsets": [_offset(one) for one in outcome.offsets],
        "delay_offsets": [_delay_offset(one) for one in outcome.delay_offsets],
        "index": {
            "files": outcome.index.files,
            "deleted_files": list(outcome.index.deleted),
            "rewritten_files": outcome.index.rewritten,
        },
        "config": [
            {
                "file": one.file,
                "read": one.source,
                "says": one.report,
                "lost": one.has_lost,
            }
            for one in outcome.config
        ],
        "later_start": _later_start(outcome.later_start),
        "notes": [{"clause": one.clause, "says": one.text} for one in outcome.notes],
    }


def _refusal(refusal: StartRefusedError) -> dict[str, object]:
    return {"clause": refusal.clause, "file": refusal.file, "says": refusal.reason}


def _later_start(later: LaterStart | None) -> dict[str, object] | None:
    if later is None:
        return None
    return {
        "recovery_begins": str(later.recovery_begins),
        "log_end": str(later.log_end),
        "lost": later.lost,
    }


def _queues(queues: Sequence[QueueState]) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for queue in queues:
        topic, queue_id = queue.name
        found.setdefault(topic, {})[str(queue_id)] = {
            "min": str(queue.min_offset),
            "max": str(queue.max_offset),
            "max_before": str(queue.max_before),
            "cut": queue.cut,
            "redispatched": queue.redispatched,
        }
    return found


def _range(one: MessageRange) -> dict[str, object]:
    return {
        "topic": one.topic,
        "queue": one.queue_id,
        "from": str(one.begin),
        "to": str(one.end),
        "count": one.count,
        "first_stored_ms": one.first_stored_ms,
        "last_stored_ms": one.last_stored_ms,
        "why": one.cause.why,
        "clause": one.cause.clause,
        "unreadable": one.cause.is_unreadable,
    }


def _offset(one: OffsetOutside) -> dict[str, object]:
    return {
        "group": one.owner,
        "topic": one.topic,
        "queue": one.queue_id,
        **_bounds(one),
    }


def _delay_offset(one: OffsetOutside) -> dict[str, object]:
    return {"level": int(one.owner), **_bounds(one)}


def _bounds(one: OffsetOutside) -> dict[str, object]:
    return {
        "offset": str(one.offset),
        "min": str(one.min_offset),
        "max": str(one.max_offset),
        "says": one.effect,
    }


def as_text(store: str, outcome: Outcome, done: CopyRecovered | None = None) -> str:
    """Return the same for an operator: the outcome first, then what it costs."""
    lines = [f"{store}, started by {outcome.release}", _outcome_line(outcome)]
    lines += map(_lost_config, outcome.lost_config)
    for title, ranges in (
        ("already unreadable, also without a start", outcome.unreadable),
        ("lost by the start", outcome.destroyed),
        ("kept in the log, but no consumer receives them", outcome.invisible),
        (
            "in no queue, because their topic or queue was deleted, or may have been",
            outcome.of_deleted_topics,
        ),
        ("in their queue twice", outcome.repeated),
    ):
        lines += _messages(ranges, title)
    if any(one.cause.clause == "REC-QUEUE-010" for one in outcome.unreadable):
        lines.append(DAMAGED_BATCH)
    lines += [
        f"Group {one.owner} is at {one.offset} of {one.topic} queue {one.queue_id},"
        f" which has {one.min_offset} to {one.max_offset}: {one.effect}."
        for one in outcome.offsets
    ]
    lines += [
        f"Delay level {one.owner} is at {one.offset}, its queue has {one.min_offset}"
        f" to {one.max_offset}: {one.effect}."
        for one in outcome.delay_offsets
    ]
    lines += [
        f"{one.file} {one.report}."
        for one in outcome.config
        if not one.is_expected and one.source == "bak"
    ]
    if outcome.later_start is not None:
        lines.append(_later_loss(outcome.later_start))
    if outcome.refusal is None:
        lines += _deleted_index(outcome)
    lines += [f"{note.text} ({note.clause})." for note in outcome.notes]
    is_damaged = outcome.refusal is not None and outcome.refusal.file != LOCK
    # Salvage restores the topics of messages, and no other table.
    lost_topics = [one for one in outcome.lost_config if one.name == TOPICS_FILE]
    is_harmed = (
        *(outcome.lost, outcome.invisible),
        *(outcome.later_start, lost_topics),
    )
    if outcome.refusal and outcome.refusal.clause == DATABASE_OPENS.id:
        lines.append(_without_database(store, outcome.refusal.file))
    elif not any(is_harmed) and outcome.refusal and _is_stray(outcome.refusal.file):
        place = shlex.quote(f"{store}/{outcome.refusal.file}")
        lines.append(f"Move {place} out of the store, and forecast again.")
    elif (any(is_harmed) or is_damaged) and commit_log_files(Path(store) / COMMIT_LOG):
        lines.append("A new store of all messages that can still be read:")
        lines.append(f"  rmqc salvage {shlex.quote(store)} -o NEW")
    if done is not None:
        lines.append(f"{done.report}.")
    return "".join(f"{printable(line)}\n" for line in lines)


def _without_database(store: str, file: str) -> str:
    """Return the advice about the database with *file*, which cannot be opened."""
    directory = file.rpartition("/")[0]
    place = shlex.quote(f"{store}/{directory}")
    if directory in ROCKSDB_QUEUES:
        return f"Move {place} out of the store: a start builds the queues again."
    return (
        f"Bring {place} back from a slave or a backup: without it, a start forgets the"
        " topics, groups or consumed offsets in it."
    )


def _later_loss(later: LaterStart) -> str:
    return (
        f"A later restart loses {_messages_of(later.lost)} more, and those stored until"
        " then: after an orderly stop, recovery begins with"
        f" commitlog/{file_name(later.recovery_begins)} and cuts the log at"
        f" {later.log_end:,}."
    )


def _deleted_index(outcome: Outcome) -> list[str]:
    again = outcome.index.rewritten
    gone = [one for one in outcome.index.deleted if one not in again]
    lines = []
    if again:
        lines.append(f"Index files deleted and written again: {', '.join(again)}.")
    if gone:
        lines.append(
            f"Index files deleted: {', '.join(gone)}. Lookups by key no longer find"
            " their messages in earlier commit-log files."
        )
    return lines


def _lost_config(one: ConfigRead) -> str:
    content = _CONTENT[one.name]
    state = f"{one.file} {one.report}"
    if one.source == "bak":
        return f"Changes of the {content} after the .bak are lost: {state}."
    return f"The {content} are lost: {state}."


def _outcome_line(outcome: Outcome) -> str:
    log, refusal = outcome.log, outcome.refusal
    if refusal is not None:
        return f"It does not start: {refusal.reason} ({refusal.clause})."
    sentences = ["It starts, after a crash." if outcome.after_crash else "It starts."]
    if log.recovery_begins is not None:
        sentences.append(
            f"Recovery begins with commitlog/{file_name(log.recovery_begins)}; the next"
            f" message is written at {log.next_place:,}."
        )
    if log.cut_bytes:
        sentences.append(f"It cuts {log.cut_bytes:,} bytes off the commit log.")
    if log.deleted_files:
        sentences.append(f"It deletes {', '.join(log.deleted_files)}.")
    added = sum(queue.redispatched for queue in outcome.queues)
    if added:
        sentences.append(f"{added:,} units are written to consume queues.")
    if outcome.is_harmless:
        sentences.append("Nothing is lost.")
    return " ".join(sentences)


def _messages(ranges: Sequence[MessageRange], title: str) -> list[str]:
    """Return the total of *ranges* and the largest of them, a line each."""
    if not ranges:
        return []
    queues = len({(one.topic, one.queue_id) for one in ranges})
    total = f"{_messages_of(messages_in(ranges))} of {_queues_of(queues)}: {title}."
    largest = sorted(ranges, key=lambda one: -one.count)
    lines = [
        f"  {_messages_of(one.count)} of {one.topic} queue {one.queue_id},"
        f" {_offsets(one)}{_times(one)}: {one.cause.why} ({one.cause.clause})."
        for one in largest[:RANGES_SHOWN]
    ]
    if len(ranges) > RANGES_SHOWN:
        count = messages_in(largest[RANGES_SHOWN:])
        rest = len(ranges) - RANGES_SHOWN
        places = "1 smaller place" if rest == 1 else f"{rest} smaller places"
        lines.append(
            f"  {_messages_of(count)} more in {places}; --format json has all."
        )
    return [total, *lines]


def _queues_of(count: int) -> str:
    return "1 queue" if count == 1 else f"{count:,} queues"


def _messages_of(count: int) -> str:
    return "1 message" if count == 1 else f"{count:,} messages"


def _offsets(one: MessageRange) -> str:
    last = one.end - 1
    return f"offset {last}" if last == one.begin else f"offsets {one.begin} to {last}"


def _times(one: MessageRange) -> str:
    if one.first_stored_ms is None or one.last_stored_ms is None:
        return ""
    first, last = _time(one.first_stored_ms), _time(one.last_stored_ms)
    return f", stored {first}" if first == last else f", stored {first} to {last}"


def _time(at_ms: int) -> str:
    """Return a time in UTC, or the number if no calendar has it."""
    try:
        moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return str(at_ms)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"

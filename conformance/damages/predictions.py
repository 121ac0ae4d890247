"""
Predictions of ``rmqc recover --dry-run`` beside the outcomes.

Prediction and outcome become the same small facts, each under the name of its field. A
difference is a line: field, predicted, found. Only effects that a broker shows are
compared, not the prediction's reasons and times.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from conformance.damages import base_store as rolled
from conformance.damages.command_process import Command
from conformance.damages.starts import Outcome
from conformance.harness.java.apache_conf import both_spellings, write_properties
from spec.store.blank import room_for
from spec.store.config.config_files import (
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    GROUPS_FILE,
    TOPICS_FILE,
)
from spec.store.file_names import CONFIG
from spec.wire.message.topic_names import SCHEDULE_TOPIC

Fact: TypeAlias = bool | str | int | list[str] | None
Facts: TypeAlias = Mapping[str, Fact]

READABLE = (0, 1)
"""Exit codes of a prediction: nothing will be lost, or something."""
CONSUMED = tuple(rolled.COMMITTED)
DELAYED = ((SCHEDULE_TOPIC, 0), (SCHEDULE_TOPIC, 2))
SETTINGS_FILES = tuple(
    f"{CONFIG}/{name}"
    for name in (TOPICS_FILE, GROUPS_FILE, CONSUMER_OFFSETS_FILE, DELAY_OFFSETS_FILE)
)
KINDS = ("lost", "invisible", "repeated")


def predict(rmqc: Command, release: str, store: Path) -> Outcome:
    """Return the prediction of *rmqc* for a start of *release* with *store*."""
    settings = store.with_name("broker.conf")
    write_properties(settings, both_spellings(rolled.SETTINGS))
    words = ["recover", str(store), "--release", release, "--dry-run"]
    words += ["--format", "json", "--broker-conf", str(settings)]
    code, text = rmqc(words)
    if code not in READABLE:
        raise AssertionError(f"exit code {code}: {text}")
    predicted = json.loads(text)
    assert isinstance(predicted, dict)
    harmless = predicted["starts"] and not any(predicted["messages"].values())
    if code == 0 and not harmless:
        raise AssertionError("0 for a start that fails or harms messages")
    return predicted


def differences(
    predicted: Outcome, found: Outcome, *, unsettled: Iterable[str] = ()
) -> list[str]:
    """Return a line for each fact that was *found* and not *predicted* so."""
    foreseen, seen = dict(facts(predicted)), facts(found)
    if "log.end" in foreseen and "log.end" in seen:
        foreseen["log.end"] = probed(foreseen["log.end"], found["log"]["probe_size"])
    return [
        f"{name}: predicted {_text(foreseen.get(name))}, found {_text(fact)}"
        for name, fact in seen.items()
        if foreseen.get(name) != fact and not name.startswith(tuple(unsettled))
    ]


def probed(end: Fact, size: int) -> str:
    """Return the offset of a message of *size* when the log ends at *end*.

    A file without room for it, and for a blank's header, stays as it is.
    """
    begin = int(str(end))
    room = rolled.LOG_FILE_SIZE - begin % rolled.LOG_FILE_SIZE
    return str(begin if room_for(size, left=room) else begin + room)


def facts(outcome: Outcome) -> Facts:
    """Return *outcome* as facts by the names of their fields."""
    if not outcome["starts"]:
        refusal = outcome["refusal"] or {}
        found: dict[str, Fact] = {"starts": False}
        return found | (
            {"refusal.file": refusal["file"]} if refusal.get("file") else {}
        )
    log, index = outcome["log"], outcome["index"]
    return {
        "starts": True,
        "after": outcome["after"],
        "log.end": log["end"],
        "log.min": log["min"],
        "log.deleted_files": sorted(log["deleted_files"]),
        **_queue_facts(outcome["queues"]),
        **{f"messages.{kind}": _places(outcome["messages"][kind]) for kind in KINDS},
        "offsets": _outside(outcome["offsets"], ("group", "topic", "queue")),
        "delay_offsets": _outside(outcome["delay_offsets"], ("level",)),
        "index.files": index["files"],
        "index.deleted_files": sorted(index["deleted_files"]),
        **_config_facts(outcome["config"]),
    }


def _queue_facts(queues: Mapping[str, Any]) -> Facts:
    """Return both ends of every queue; one that is not there has none."""
    return {
        f"queues.{topic}.{queue_id}.{end}": queues.get(topic, {})
        .get(str(queue_id), {})
        .get(end, "0")
        for topic, queue_id in (*CONSUMED, *DELAYED)
        for end in ("min", "max")
    }


def _places(spans: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return each message of *spans* whose topic was sent to, by its place."""
    return sorted(
        f"{span['topic']}/{span['queue']}/{number:05}"
        for span in spans
        if span["topic"] != SCHEDULE_TOPIC
        for number in range(int(span["from"]), int(span["to"]))
    )


def _outside(entries: Iterable[Mapping[str, Any]], names: tuple[str, ...]) -> list[str]:
    """Return the offsets that lie outside of their queues."""
    return sorted(
        f"{'/'.join(str(entry[name]) for name in names)}: {entry['offset']}"
        f" not in {entry['min']} to {entry['max']}"
        for entry in entries
    )


def _config_facts(config: Any) -> Facts:
    """Return of each configuration file whether anything of it was read."""
    if isinstance(config, Mapping):
        return {f"config.{file}": bool(read) for file, read in config.items()}
    read = {entry["file"]: entry["read"] != "nothing" for entry in config}
    return {f"config.{file}": read.get(file, False) for file in SETTINGS_FILES}


def _text(fact: Fact) -> str:
    """Return *fact* for a line; long runs are shortened."""
    if isinstance(fact, list) and len(fact) > 6:
        return f"{len(fact)}: {', '.join(fact[:3])} ... {fact[-1]}"
    return ", ".join(fact) or "none" if isinstance(fact, list) else str(fact)

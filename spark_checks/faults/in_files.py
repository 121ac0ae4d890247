"""
Faults in commit-log files, the checkpoint, index headers and configuration.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

from spark_checks.faults.fault import Site, at
from spark_checks.faults.fault_list import FaultList, Found, Place
from spark_checks.faults.index_places import index_file
from spark_checks.generate.store import last_stored_at_ms
from spec.derive.numpy_dtype import leading_fields
from spec.store.checkpoint import checkpoint_layout
from spec.store.file_names import file_name
from spec.store.index_file import (
    HEADER_SIZE,
    decode_header,
    encode_header,
    header_layout,
)
from spec.store.message_record import MAGIC_V1

LOG_FAULTS, HEADER_FAULTS = FaultList(), FaultList()
CHECKPOINT_FAULTS, CONFIG_FAULTS = FaultList(), FaultList()
_header_at = {field.name: field.offset for field in leading_fields(header_layout)}
_time_at = {field.name: field.offset for field in leading_fields(checkpoint_layout)}
_TIMES = tuple(
    f"check {_time_at[name]}" for name in ("physic_ms", "logics_ms", "index_ms")
)


def _behind(site: Site, part: int) -> Place:
    """Return the place behind the last record of *part*."""
    last = site.part(part)[-1]
    return last.log_file, last.position + last.size


@LOG_FAULTS.planting("log-no-blank", "zeros instead of a blank", "blank 0")
def _no_blank(site: Site) -> Found:
    file, offset = _behind(site, 0)
    site.overwrite(file, offset, bytes(8))
    return [at("INV-LOG-004", file, offset)]


@LOG_FAULTS.planting("log-wrong-blank", "a blank of another size", "blank 1")
def _wrong_blank(site: Site) -> Found:
    file, offset = _behind(site, 1)
    site.flip(file, offset + 3)
    return [at("INV-LOG-001", file, offset)]


def _after_last(data: bytes) -> Callable[[Site], Found]:
    """Return a function that writes *data* behind the last record of the log."""

    def plant(site: Site) -> Found:
        file, offset = _behind(site, site.plan.files - 1)
        site.overwrite(file, offset, data)
        return [at("INV-LOG-001", file, offset)]

    return plant


LOG_FAULTS.add(
    "log-noise", "noise behind the last record", _after_last(b"\x7fnoise"), "log end"
)
LOG_FAULTS.add(
    "log-torn",
    "a record that is not ended",
    _after_last(struct.pack(">iI", 500, MAGIC_V1) + b"\0" * 20),
    "log end",
)


@LOG_FAULTS.planting("log-file-short", "a last file too short", "last log")
def _short_log(site: Site) -> Found:
    file, size = _behind(site, site.plan.files - 1)[0], site.plan.log_size - 16
    site.cut(file, size)
    return [at("INV-FILE-002", file, size)]


@LOG_FAULTS.planting("log-file-empty", "an empty next file", "next log")
def _empty_next_log(site: Site) -> Found:
    file = f"commitlog/{file_name(site.plan.files * site.plan.log_size)}"
    (site.root / file).write_bytes(b"")
    return [at("INV-FILE-002", file, 0)]


@LOG_FAULTS.planting("log-file-missing", "a file after a gap", "next log")
def _later_log(site: Site) -> Found:
    """Add a file of zeros behind a gap, where no message can be lost."""
    missing = site.plan.files * site.plan.log_size
    later = f"commitlog/{file_name(missing + site.plan.log_size)}"
    (site.root / later).write_bytes(bytes(site.plan.log_size))
    return [at("INV-FILE-003", f"commitlog/{file_name(missing)}", 0)]


def _foreign(file: str) -> Callable[[Site], Found]:
    """Return a function that adds *file*, which no broker writes."""

    def plant(site: Site) -> Found:
        (site.root / file).write_bytes(b"hello")
        return [at("INV-FILE-001", file, 0)]

    return plant


LOG_FAULTS.add("log-file-foreign", "a file of a shell", _foreign("commitlog/nohup.out"))
LOG_FAULTS.add(
    "index-file-foreign", "an index file without a time", _foreign("index/old")
)


def _header(kind: str, description: str, part: int, name: str, value: int) -> None:
    """Add a fault that changes one number in the header of an index file."""

    def plant(site: Site) -> Found:
        file = index_file(site, part)
        header = decode_header((site.root / file).read_bytes()[:HEADER_SIZE])
        changed = encode_header(replace(header, **{name: value}))
        site.overwrite(file, 0, changed)
        return [at("INV-INDEX-001", file, _header_at[name])]

    HEADER_FAULTS.add(kind, description, plant)


_header("index-count", "more items than room", 0, "index_count", 1 << 30)
_header("index-slots", "more slots than items", 1, "slot_count", 1 << 30)
_header("index-begin", "a negative begin", 2, "begin_offset", -5)
_header("index-end", "an end past the log", 3, "end_offset", 1 << 40)
_header("index-begin-time", "a begin after the end", 4, "begin_stored_at_ms", 1 << 50)
_header("index-end-time", "an end in the future", 5, "end_stored_at_ms", 1 << 50)


@HEADER_FAULTS.planting("index-file-short", "an index of 60 bytes")
def _short_index(site: Site) -> Found:
    file = "index/20990101000000000"
    (site.root / file).write_bytes(bytes(60))
    return [at("INV-INDEX-002", file, 0)]


def _time(kind: str, description: str, name: str, ahead_ms: int | None) -> None:
    """Add a fault that moves a time of the checkpoint ahead, or below zero."""
    offset = _time_at[name]

    def plant(site: Site) -> Found:
        time_ms = -1 if ahead_ms is None else last_stored_at_ms(site.plan) + ahead_ms
        site.overwrite("checkpoint", offset, struct.pack(">q", time_ms))
        return [at("INV-CHECK-002", "checkpoint", offset)]

    CHECKPOINT_FAULTS.add(kind, description, plant, f"check {offset}")


_time("checkpoint-log", "a log time ahead", "physic_ms", 5000)
_time("checkpoint-queue", "a queue time ahead", "logics_ms", 9)
_time("checkpoint-index", "an index time ahead", "index_ms", 1)
_time("checkpoint-negative", "a negative time", "physic_ms", None)


@CHECKPOINT_FAULTS.planting("checkpoint-missing", "no checkpoint", *_TIMES)
def _no_checkpoint(site: Site) -> Found:
    (site.root / "checkpoint").unlink()
    return [at("INV-CHECK-001", "checkpoint", 0)]


@CHECKPOINT_FAULTS.planting("checkpoint-short", "a checkpoint cut short", _TIMES[0])
def _short_checkpoint(site: Site) -> Found:
    site.cut("checkpoint", 100)
    return [at("INV-CHECK-001", "checkpoint", 0)]


def _no_json(
    name: str, change: Callable[[bytes], tuple[bytes, int]]
) -> Callable[[Site], Found]:
    """Return a function that makes a configuration file unreadable at an offset."""

    def plant(site: Site) -> Found:
        path = site.root / "config" / name
        data, offset = change(path.read_bytes())
        path.write_bytes(data)
        return [at("INV-CONFIG-001", f"config/{name}", offset)]

    return plant


def _number(
    name: str, finding: str, marks: tuple[bytes, ...], value: bytes
) -> Callable[[Site], Found]:
    """Return a function that changes the number behind the last of *marks*."""

    def plant(site: Site) -> Found:
        path = site.root / "config" / name
        data, begin = path.read_bytes(), 0
        for mark in marks:
            begin = data.index(mark, begin) + len(mark)
        ends = (data.find(b",", begin), data.find(b"}", begin))
        end = min(place for place in ends if place >= 0)
        path.write_bytes(data[:begin] + value + data[end:])
        return [at(finding, f"config/{name}", begin)]

    return plant


CONFIG_FAULTS.add(
    "config-cut",
    "half of topics.json",
    _no_json("topics.json", lambda data: (data[: len(data) // 2], len(data) // 2)),
    "topics",
    "topics are read",
)
CONFIG_FAULTS.add(
    "config-zeros",
    "zeros in consumerOffset.json",
    _no_json("consumerOffset.json", lambda data: (bytes(len(data)), 0)),
    "consumerOffset",
    "consumerOffset negative",
)
CONFIG_FAULTS.add(
    "config-empty",
    "an empty delayOffset.json",
    _no_json("delayOffset.json", lambda _: (b"", 0)),
    "delayOffset",
    "delay offsets are read",
    "delay offsets are read, too",
)
CONFIG_FAULTS.add(
    "offset-too-large",
    "a consumed offset past its queue",
    _number(
        "consumerOffset.json", "INV-OFFSET-001", (b'"Orders0001@', b"0:"), b"987654321"
    ),
    "consumerOffset",
)
CONFIG_FAULTS.add(
    "offset-negative",
    "a negative consumed offset",
    _number("consumerOffset.json", "INV-OFFSET-001", (b'"Orders0001@', b",1:"), b"-5"),
    "consumerOffset negative",
)
CONFIG_FAULTS.add(
    "delay-offset-too-large",
    "a delay level past its queue",
    _number("delayOffset.json", "INV-OFFSET-002", (b'"offsetTable"', b"1:"), b"99999"),
    "delayOffset",
)


@CONFIG_FAULTS.planting("topic-forgotten", "a topic renamed", "topics")
def _forget_topic(site: Site) -> Found:
    """Rename a topic in the configuration."""
    path = site.root / "config/topics.json"
    topic = site.plan.topic_names[1].encode()
    path.write_bytes(path.read_bytes().replace(topic, b"Renamed"))
    return [at("INV-CONFIG-002", "config/topics.json", 0)]


@CONFIG_FAULTS.planting("config-copy", "zeros in a copy")
def _bad_copy(site: Site) -> Found:
    site.overwrite("config/subscriptionGroup.json.bak", 0, b"\0\0\0\0")
    return [at("INV-CONFIG-003", "config/subscriptionGroup.json.bak", 0)]


def _zeros_in(site: Site, name: str, finding: str) -> Found:
    """Write zeros into a name, which fastjson accepts."""
    path = f"config/{name}"
    offset = (site.root / path).read_bytes().index(b"rders") + 1
    site.overwrite(path, offset, bytes(3))
    return [at(finding, path, offset)]


CONFIG_FAULTS.add(
    "config-zeros-in-name",
    "zeros in the name of a group",
    lambda site: _zeros_in(site, "subscriptionGroup.json", "INV-CONFIG-001"),
)
CONFIG_FAULTS.add(
    "config-copy-zeros-in-name",
    "zeros in the name of a topic in a copy",
    lambda site: _zeros_in(site, "topics.json.bak", "INV-CONFIG-003"),
)

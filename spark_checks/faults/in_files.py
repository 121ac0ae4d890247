"""
Faults in commit-log files, the checkpoint, index headers and configuration.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace

from spark_checks.faults.fault import Expected, Fault, Site
from spark_checks.faults.index_places import index_file
from spark_checks.generate.store import last_stored_at_ms
from spec.store.file_names import file_name
from spec.store.index_file import HEADER_SIZE, decode_header, encode_header

Found = tuple[Expected, Sequence[Expected]]


def _at(finding: str, file: str, offset: int) -> Found:
    return Expected(finding=finding, file=file, offset=offset), ()


def _last_log(site: Site) -> str:
    return f"commitlog/{file_name((site.plan.files - 1) * site.plan.log_size)}"


def _blank_of(site: Site, part: int) -> tuple[str, int]:
    """Return the file of *part* and the position of its blank."""
    last = site.part(part)[-1]
    return last.log_file, last.position + last.size


def _no_blank(site: Site) -> Found:
    file, offset = _blank_of(site, 0)
    site.overwrite(file, offset, bytes(8))
    return _at("INV-LOG-004", file, offset)


def _wrong_blank(site: Site) -> Found:
    file, offset = _blank_of(site, 1)
    site.flip(file, offset + 3)
    return _at("INV-LOG-001", file, offset)


def _noise_behind(site: Site) -> Found:
    file, offset = _blank_of(site, site.plan.files - 1)
    site.overwrite(file, offset, b"\x7fnoise")
    return _at("INV-LOG-001", file, offset)


def _torn_record(site: Site) -> Found:
    """Write the begin of a record behind the last one."""
    file, offset = _blank_of(site, site.plan.files - 1)
    site.overwrite(file, offset, struct.pack(">iI", 500, 0xDAA320A7) + b"\0" * 20)
    return _at("INV-LOG-001", file, offset)


def _short_log(site: Site) -> Found:
    file = _last_log(site)
    size = site.plan.log_size - 16
    site.cut(file, size)
    return _at("INV-FILE-002", file, size)


def _empty_next_log(site: Site) -> Found:
    file = f"commitlog/{file_name(site.plan.files * site.plan.log_size)}"
    (site.root / file).write_bytes(b"")
    return _at("INV-FILE-002", file, 0)


def _later_log(site: Site) -> Found:
    """Add a file of zeros behind a gap, where no message can be lost."""
    missing = site.plan.files * site.plan.log_size
    later = f"commitlog/{file_name(missing + site.plan.log_size)}"
    (site.root / later).write_bytes(bytes(site.plan.log_size))
    return _at("INV-FILE-003", f"commitlog/{file_name(missing)}", 0)


def _foreign_log(site: Site) -> Found:
    (site.root / "commitlog/nohup.out").write_bytes(b"hello")
    return _at("INV-FILE-001", "commitlog/nohup.out", 0)


def _foreign_index(site: Site) -> Found:
    (site.root / "index/old").write_bytes(b"")
    return _at("INV-FILE-001", "index/old", 0)


def _header(part: int, offset: int, **changed: int) -> Callable[[Site], Found]:
    """Return a function that changes one value in the header of an index file."""

    def plant(site: Site) -> Found:
        file = index_file(site, part)
        header = decode_header((site.root / file).read_bytes()[:HEADER_SIZE])
        site.overwrite(file, 0, encode_header(replace(header, **changed)))
        return _at("INV-INDEX-001", file, offset)

    return plant


def _short_index(site: Site) -> Found:
    file = "index/20990101000000000"
    (site.root / file).write_bytes(bytes(60))
    return _at("INV-INDEX-002", file, 0)


def _checkpoint(at: int, ahead_ms: int | None) -> Callable[[Site], Found]:
    def plant(site: Site) -> Found:
        time_ms = -1 if ahead_ms is None else last_stored_at_ms(site.plan) + ahead_ms
        site.overwrite("checkpoint", at, struct.pack(">q", time_ms))
        return _at("INV-CHECK-002", "checkpoint", at)

    return plant


def _no_checkpoint(site: Site) -> Found:
    (site.root / "checkpoint").unlink()
    return _at("INV-CHECK-001", "checkpoint", 0)


def _short_checkpoint(site: Site) -> Found:
    site.cut("checkpoint", 100)
    return _at("INV-CHECK-001", "checkpoint", 0)


def _json(
    name: str, change: Callable[[bytes], tuple[bytes, int]]
) -> Callable[[Site], Found]:
    def plant(site: Site) -> Found:
        path = site.root / "config" / name
        data, offset = change(path.read_bytes())
        path.write_bytes(data)
        return _at("INV-CONFIG-001", f"config/{name}", offset)

    return plant


def _cut_in_half(data: bytes) -> tuple[bytes, int]:
    return data[: len(data) // 2], len(data) // 2


def _nothing_but_zeros(data: bytes) -> tuple[bytes, int]:
    return bytes(len(data)), 0


def _empty(_data: bytes) -> tuple[bytes, int]:
    return b"", 0


def _offset_of(
    name: str, finding: str, marks: tuple[bytes, ...], value: bytes
) -> Callable[[Site], Found]:
    """Return a function that changes the number behind the last of *marks*."""

    def plant(site: Site) -> Found:
        path = site.root / "config" / name
        data, at = path.read_bytes(), 0
        for mark in marks:
            at = data.index(mark, at) + len(mark)
        end = min(i for i in (data.find(b",", at), data.find(b"}", at)) if i >= 0)
        path.write_bytes(data[:at] + value + data[end:])
        return _at(finding, f"config/{name}", at)

    return plant


def _forget_topic(site: Site) -> Found:
    """Rename a topic in the configuration."""
    path = site.root / "config/topics.json"
    topic = site.plan.topic_names[1].encode()
    path.write_bytes(path.read_bytes().replace(topic, b"Renamed"))
    return _at("INV-CONFIG-002", "config/topics.json", 0)


def _zeros_in(site: Site, name: str, finding: str) -> Found:
    """Write zeros into a name, which fastjson accepts."""
    path = f"config/{name}"
    at = (site.root / path).read_bytes().index(b"rders") + 1
    site.overwrite(path, at, bytes(3))
    return _at(finding, path, at)


def _bad_copy(site: Site) -> Found:
    site.overwrite("config/subscriptionGroup.json.bak", 0, b"\0\0\0\0")
    return _at("INV-CONFIG-003", "config/subscriptionGroup.json.bak", 0)


def _fault(
    kind: str, description: str, plant: Callable[[Site], Found], *claims: str
) -> Fault:
    return Fault(
        kind=kind, description=description, plant=plant, claims=frozenset(claims)
    )


LOG_FAULTS: tuple[Fault, ...] = (
    _fault("log-no-blank", "zeros instead of a blank", _no_blank, "blank 0"),
    _fault("log-wrong-blank", "a blank of another size", _wrong_blank, "blank 1"),
    _fault("log-noise", "noise behind the last record", _noise_behind, "log end"),
    _fault("log-torn", "a record that is not ended", _torn_record, "log end"),
    _fault("log-file-short", "a last file too short", _short_log, "last log"),
    _fault("log-file-empty", "an empty next file", _empty_next_log, "next log"),
    _fault("log-file-missing", "a file after a gap", _later_log, "next log"),
    _fault("log-file-foreign", "a file of a shell", _foreign_log),
    _fault("index-file-foreign", "an index file without a time", _foreign_index),
)
HEADER_FAULTS: tuple[Fault, ...] = (
    _fault("index-count", "more items than room", _header(0, 36, index_count=1 << 30)),
    _fault("index-slots", "more slots than items", _header(1, 32, slot_count=1 << 30)),
    _fault("index-begin", "a negative begin", _header(2, 16, begin_offset=-5)),
    _fault("index-end", "an end past the log", _header(3, 24, end_offset=1 << 40)),
    _fault(
        "index-begin-time",
        "a begin after the end",
        _header(4, 0, begin_stored_at_ms=1 << 50),
    ),
    _fault(
        "index-end-time",
        "an end in the future",
        _header(5, 8, end_stored_at_ms=1 << 50),
    ),
    _fault("index-file-short", "an index of 60 bytes", _short_index),
)
CHECKPOINT_FAULTS: tuple[Fault, ...] = (
    _fault("checkpoint-log", "a log time ahead", _checkpoint(0, 5000), "check 0"),
    _fault("checkpoint-queue", "a queue time ahead", _checkpoint(8, 9), "check 8"),
    _fault("checkpoint-index", "an index time ahead", _checkpoint(16, 1), "check 16"),
    _fault("checkpoint-negative", "a negative time", _checkpoint(0, None), "check 0"),
    _fault(
        "checkpoint-missing",
        "no checkpoint",
        _no_checkpoint,
        "check 0",
        "check 8",
        "check 16",
    ),
    _fault(
        "checkpoint-short",
        "a checkpoint cut short",
        _short_checkpoint,
        "check 0",
    ),
)
CONFIG_FAULTS: tuple[Fault, ...] = (
    _fault(
        "config-cut",
        "half of topics.json",
        _json("topics.json", _cut_in_half),
        "topics",
        "topics are read",
    ),
    _fault(
        "config-zeros",
        "zeros in consumerOffset.json",
        _json("consumerOffset.json", _nothing_but_zeros),
        "consumerOffset",
        "consumerOffset negative",
    ),
    _fault(
        "config-empty",
        "an empty delayOffset.json",
        _json("delayOffset.json", _empty),
        "delayOffset",
        "delay offsets are read",
        "delay offsets are read, too",
    ),
    _fault(
        "offset-too-large",
        "a consumed offset past its queue",
        _offset_of(
            "consumerOffset.json",
            "INV-OFFSET-001",
            (b'"Orders0001@', b"0:"),
            b"987654321",
        ),
        "consumerOffset",
    ),
    _fault(
        "offset-negative",
        "a negative consumed offset",
        _offset_of(
            "consumerOffset.json",
            "INV-OFFSET-001",
            (b'"Orders0001@', b",1:"),
            b"-5",
        ),
        "consumerOffset negative",
    ),
    _fault(
        "delay-offset-too-large",
        "a delay level past its queue",
        _offset_of(
            "delayOffset.json", "INV-OFFSET-002", (b'"offsetTable"', b"1:"), b"99999"
        ),
        "delayOffset",
    ),
    _fault("topic-forgotten", "a topic renamed", _forget_topic, "topics"),
    _fault("config-copy", "zeros in a copy", _bad_copy),
    _fault(
        "config-zeros-in-name",
        "zeros in the name of a group",
        lambda site: _zeros_in(site, "subscriptionGroup.json", "INV-CONFIG-001"),
    ),
    _fault(
        "config-copy-zeros-in-name",
        "zeros in the name of a topic in a copy",
        lambda site: _zeros_in(site, "topics.json.bak", "INV-CONFIG-003"),
    ),
)

"""
Faults of whole files: of the commit log, the index, the checkpoint and settings.
"""

from __future__ import annotations

import struct

from spark_checks.faults.fault import FaultList, Found, at
from spark_checks.faults.places import Place, end_of
from spark_checks.faults.site import Site
from spec.store.file_names import file_name
from spec.store.message_record import MAGIC_V1

FILE_FAULTS = FaultList("files")
_TIMES = ("physic_ms", "logics_ms", "index_ms")


def _written(site: Site, place: Place, data: bytes, finding: str) -> Found:
    """Write *data* at *place*, where the finding is; the file may be new."""
    (site.root / place[0]).touch()
    site.overwrite(place, data)
    return [at(finding, place)]


def _after_last(site: Site, data: bytes) -> Found:
    """Write *data* behind the last record of the log."""
    return _written(site, end_of(site, site.plan.files - 1), data, "INV-LOG-001")


FILE_FAULTS.add(
    "log-noise",
    "noise behind the last record",
    lambda site: _after_last(site, b"\x7fnoise"),
    "log end",
)
FILE_FAULTS.add(
    "log-torn",
    "a record that is not ended",
    lambda site: _after_last(site, struct.pack(">iI", 500, MAGIC_V1) + b"\0" * 20),
    "log end",
)


@FILE_FAULTS.planting("log-file-short", "a last file too short", "last log")
def _short_log(site: Site) -> Found:
    file, size = end_of(site, site.plan.files - 1)[0], site.plan.log_size - 16
    site.cut(file, size)
    return [at("INV-FILE-002", (file, size))]


@FILE_FAULTS.planting("log-file-empty", "an empty next file", "next log")
def _empty_next_log(site: Site) -> Found:
    file = f"commitlog/{file_name(site.plan.files * site.plan.log_size)}"
    return _written(site, (file, 0), b"", "INV-FILE-002")


@FILE_FAULTS.planting("log-file-missing", "a file after a gap", "next log")
def _later_log(site: Site) -> Found:
    """Add a file of zeros behind a gap, where no message can be lost."""
    missing = site.plan.files * site.plan.log_size
    later = f"commitlog/{file_name(missing + site.plan.log_size)}"
    (site.root / later).write_bytes(bytes(site.plan.log_size))
    return [at("INV-FILE-003", (f"commitlog/{file_name(missing)}", 0))]


FILE_FAULTS.add(
    "log-file-foreign",
    "a file of a shell",
    lambda site: _written(site, ("commitlog/nohup.out", 0), b"hello", "INV-FILE-001"),
)
FILE_FAULTS.add(
    "index-file-foreign",
    "an index file without a time",
    lambda site: _written(site, ("index/old", 0), b"hello", "INV-FILE-001"),
)


@FILE_FAULTS.planting("index-file-short", "an index of 60 bytes")
def _short_index(site: Site) -> Found:
    return _written(site, ("index/20990101000000000", 0), bytes(60), "INV-INDEX-002")


@FILE_FAULTS.planting("checkpoint-missing", "no checkpoint", *_TIMES)
def _no_checkpoint(site: Site) -> Found:
    (site.root / "checkpoint").unlink()
    return [at("INV-CHECK-001", ("checkpoint", 0))]


@FILE_FAULTS.planting("checkpoint-short", "a checkpoint cut short", _TIMES[0])
def _short_checkpoint(site: Site) -> Found:
    site.cut("checkpoint", 100)
    return [at("INV-CHECK-001", ("checkpoint", 0))]


@FILE_FAULTS.planting("config-cut", "half of topics.json", "topics", "topics are read")
def _cut_topics(site: Site) -> Found:
    file = "config/topics.json"
    size = (site.root / file).stat().st_size // 2
    site.cut(file, size)
    return [at("INV-CONFIG-001", (file, size))]


@FILE_FAULTS.planting("topic-forgotten", "a topic renamed", "topics")
def _forget_topic(site: Site) -> Found:
    """Rename a topic in the configuration."""
    path = site.root / "config/topics.json"
    topic = site.plan.topic_names[1].encode()
    path.write_bytes(path.read_bytes().replace(topic, b"Renamed"))
    return [at("INV-CONFIG-002", ("config/topics.json", 0))]

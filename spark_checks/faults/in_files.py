"""
Faults of whole files: of the commit log, the index, the checkpoint and settings.
"""

from __future__ import annotations

import struct

from spark_checks.faults.fault import FaultList, Found, at
from spark_checks.faults.places import end_of
from spark_checks.faults.site import Site
from spec.store.file_names import file_name
from spec.store.message_record import MAGIC_V1

FILE_FAULTS = FaultList("files")


def _after_last(site: Site, data: bytes) -> Found:
    """Write *data* behind the last record of the log."""
    place = end_of(site, site.plan.files - 1)
    site.overwrite(place, data)
    return [at("INV-LOG-001", place)]


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
    (site.root / file).touch()
    return [at("INV-FILE-002", (file, 0))]


@FILE_FAULTS.planting("log-file-missing", "a file after a gap", "next log")
def _later_log(site: Site) -> Found:
    """Add a file of zeros behind a gap, where no message can be lost."""
    missing = site.plan.files * site.plan.log_size
    later = f"commitlog/{file_name(missing + site.plan.log_size)}"
    (site.root / later).write_bytes(bytes(site.plan.log_size))
    return [at("INV-FILE-003", (f"commitlog/{file_name(missing)}", 0))]


@FILE_FAULTS.planting(
    "checkpoint-missing", "no checkpoint", "physic_ms", "logics_ms", "index_ms"
)
def _no_checkpoint(site: Site) -> Found:
    (site.root / "checkpoint").unlink()
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

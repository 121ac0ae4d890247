"""Faults of whole files: of the commit log, the index, the checkpoint and settings."""

from __future__ import annotations

import struct

from spark_checks.faults.fault import Found, at
from spark_checks.faults.places import end_of
from spark_checks.faults.site import Site
from spec.store.file_names import file_name
from spec.store.message_record import MAGIC_V1


def _after_last(site: Site, data: bytes) -> Found:
    """Write *data* behind the last record of the log."""
    place = end_of(site, site.plan.files - 1)
    site.overwrite(place, data)
    return [at("INV-LOG-001", place)]


def log_noise(site: Site) -> Found:
    """Write other bytes behind the last record, more than the rest of a page."""
    return _after_last(site, b"\x7fnoise" * 1000)


def log_torn(site: Site) -> Found:
    """Write the begin of a record behind the last one."""
    return _after_last(site, struct.pack(">iI", 500, MAGIC_V1) + b"\0" * 20)


def log_file_short(site: Site) -> Found:
    """Cut the last file."""
    file, size = end_of(site, site.plan.files - 1)[0], site.plan.log_size - 16
    site.cut(file, size)
    return [at("INV-FILE-002", (file, size))]


def log_file_empty(site: Site) -> Found:
    """Create the next file, without its bytes."""
    file = f"commitlog/{file_name(site.plan.files * site.plan.log_size)}"
    (site.root / file).touch()
    return [at("INV-FILE-002", (file, 0))]


def log_file_missing(site: Site) -> Found:
    """Add a file of zeros behind a gap, where no message can be lost."""
    missing = site.plan.files * site.plan.log_size
    later = f"commitlog/{file_name(missing + site.plan.log_size)}"
    (site.root / later).write_bytes(bytes(site.plan.log_size))
    return [at("INV-FILE-003", (f"commitlog/{file_name(missing)}", 0))]


def checkpoint_missing(site: Site) -> Found:
    """Delete the checkpoint."""
    (site.root / "checkpoint").unlink()
    return [at("INV-CHECK-001", ("checkpoint", 0))]


def config_cut(site: Site) -> Found:
    """Cut topics.json in half."""
    file = "config/topics.json"
    size = (site.root / file).stat().st_size // 2
    site.cut(file, size)
    return [at("INV-CONFIG-001", (file, size))]


def topic_forgotten(site: Site) -> Found:
    """Rename a topic in the configuration."""
    path = site.root / "config/topics.json"
    topic = site.plan.topic_names[1].encode()
    path.write_bytes(path.read_bytes().replace(topic, b"Renamed"))
    return [at("INV-CONFIG-002", ("config/topics.json", 0))]


def batch_topic_forgotten(site: Site) -> Found:
    """Rename the attribute with the type of the batch topic."""
    path = site.root / "config/topics.json"
    path.write_bytes(path.read_bytes().replace(b"queue.type", b"queue.kind"))
    return [at("INV-CONFIG-007", ("config/topics.json", 0))]

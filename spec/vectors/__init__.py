"""
Test vectors for implementations in any language: bytes, and what they mean.

They are made from the declarations, and from bytes that real releases wrote, which the
caller hands over. ``fixtures/vectors`` keeps them as JSON; ``docs/vectors.md`` shows
how a test in another language reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spec.vectors.files import index_vectors, store_file_vectors, unit_file
from spec.vectors.form import as_plain
from spec.vectors.frames import batch_file, frame_file, header_file
from spec.vectors.records import record_file
from spec.vectors.signatures import signature_file
from spec.vectors.texts import hash_file, id_file, property_file

Bytes = Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Bytes that real releases wrote, by where they stand in ``fixtures``."""

    records: Bytes = field(default_factory=dict)
    frames: Bytes = field(default_factory=dict)
    batches: Bytes = field(default_factory=dict)
    queues: Bytes = field(default_factory=dict)
    """Files of consume queues."""
    extensions: Bytes = field(default_factory=dict)
    """Files of their extensions."""
    batch_queues: Bytes = field(default_factory=dict)
    timer_logs: Bytes = field(default_factory=dict)
    indexes: Bytes = field(default_factory=dict)
    checkpoints: Bytes = field(default_factory=dict)
    signatures: Bytes = field(default_factory=dict)
    """JSON with fields, body, secret key, content and signature of requests."""


def vectors(recorded: Recorded) -> dict[str, dict[str, Any]]:
    """Return all files of vectors by name, in the form that JSON has."""
    files = {
        "frames": frame_file(recorded.frames),
        "headers": header_file(),
        "batches": batch_file(recorded.batches),
        "records": record_file(recorded.records),
        "units": unit_file(
            queues=recorded.queues,
            extensions=recorded.extensions,
            batch_queues=recorded.batch_queues,
            timer_logs=recorded.timer_logs,
        ),
        "index": index_vectors(recorded.indexes),
        "files": store_file_vectors(recorded.checkpoints),
        "ids": id_file(),
        "properties": property_file(),
        "hashes": hash_file(),
        "signatures": signature_file(recorded.signatures),
    }
    return {name: as_plain(file) for name, file in files.items()}

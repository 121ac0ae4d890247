"""The store suite on directories: those of real brokers pass, damaged ones do not."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.harness.embedded import SOURCES
from conformance.harness.store_files import StoreFiles

RECORDED = SOURCES / "fixtures" / "store"
BODY_CRC_AT = 8
"""Where a record's checksum begins."""


def outcomes(store: Path, directory: Path, release: str) -> dict[str, str]:
    """Run the store suite on *store* and return the outcome of every clause."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    words += ["-p", "conformance.harness.plugin", "--import-mode=importlib"]
    words += [f"--target=store:{store}", f"--profile={release}"]
    words += [f"--report={directory}", str(SOURCES / "conformance" / "store")]
    ended = subprocess.run(words, cwd=SOURCES, capture_output=True, check=False)
    report = directory / "report.json"
    assert report.exists(), ended.stdout.decode() + ended.stderr.decode()
    results = json.loads(report.read_text(encoding="utf-8"))["results"]
    return {entry["id"]: entry["outcome"] for entry in results}


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDED.iterdir()))
def test_a_real_brokers_store_passes(name: str, tmp_path: Path) -> None:
    release = name.partition("-")[0]
    found = Counter(outcomes(RECORDED / name, tmp_path, release).values())
    assert set(found) == {"pass", "unsupported", "not-applicable"}, found
    assert found["pass"] >= 40


def wrong_checksum(store: Path) -> None:
    flip(store, StoreFiles(store).records()[3].offset + BODY_CRC_AT)


def wrong_magic(store: Path) -> None:
    flip(store, StoreFiles(store).records()[-1].offset + 4)


def wrong_size_in_a_unit(store: Path) -> None:
    queue = next((store / "consumequeue" / "TopicTest").rglob("0" * 20), None)
    queue = queue or next((store / "consumequeue").rglob("0" * 20))
    data = bytearray(queue.read_bytes())
    data[11] ^= 1
    queue.write_bytes(data)


def flip(store: Path, offset: int) -> None:
    """Turn one bit of the commit log's byte at *offset*."""
    for file in StoreFiles(store).log_files():
        at = offset - file.begin_offset
        if 0 <= at < len(file.data):
            data = bytearray(file.data)
            data[at] ^= 1
            (store / "commitlog" / file.name).write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "clause"),
    [
        (wrong_checksum, "STORE-CRC-001"),
        (wrong_magic, "STORE-LOG-001"),
        (wrong_size_in_a_unit, "STORE-QUEUE-003"),
    ],
)
def test_a_damaged_store_fails(
    damage: Callable[[Path], None], clause: str, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(RECORDED / "4.6.0-stopped", store)
    damage(store)
    assert outcomes(store, tmp_path, "4.6.0")[clause] == "fail"

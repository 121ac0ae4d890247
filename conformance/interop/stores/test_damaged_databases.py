"""
Real brokers do not start if a RocksDB database of their store cannot be opened.

The audit reports it, and a broker starts after its advice was followed. It builds its
queues from the commit log again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.process.process import ProcessError
from conformance.interop.stores.traffic import PATIENCE_S
from rocketmq_conformance.paths import module_command

SETTINGS = {"storeType": "defaultRocksDB", "timerWheelEnable": "false"}
TOPIC, COUNT = "InDatabase", 20
DIRECTORIES = ("consumequeue", "config/topics", "config/consumerOffsets")


def cluster(release: str, directory: Path, store: Path) -> ApacheCluster:
    """Return a cluster of *release* on *store*, not yet started."""
    directory.mkdir()
    return ApacheCluster(release, directory=directory, conf=SETTINGS, store=store)


@pytest.fixture(scope="module", params=["5.3.3", "5.5.0"])
def release(request: pytest.FixtureRequest) -> str:
    """Return the release that writes the store."""
    return str(request.param)


@pytest.fixture(scope="module")
def original(release: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a stopped store with COUNT messages, and an audit without a finding."""
    directory = tmp_path_factory.mktemp("databases")
    store = directory / "store"
    with closing(cluster(release, directory / "home", store)) as writer:
        writer.start()
        with Client.connect(writer.broker) as client:
            require_success(client.create_topic(topic=TOPIC, queue_count=1))
            for _ in range(COUNT):
                require_success(client.send_message(topic=TOPIC))
            client.wait_for_max_offset(topic=TOPIC, offset=COUNT, timeout_s=PATIENCE_S)
        writer.stop()
    assert found_in(store) == []
    return store


def found_in(store: Path) -> list[tuple[str, str]]:
    """Return the invariants and files of the findings in *store*."""
    words = ["audit", str(store), "--format", "json"]
    done = subprocess.run(
        module_command("cli", *words), capture_output=True, check=False, timeout=300
    )
    findings = json.loads(done.stdout)["violations"]
    return [(one["invariant"], one["file"]) for one in findings]


@pytest.mark.parametrize("lost", ["CURRENT", "MANIFEST-*"])
@pytest.mark.parametrize("directory", DIRECTORIES)
def test_a_database_that_cannot_be_opened_keeps_a_broker_from_starting(
    original: Path, release: str, directory: str, lost: str, tmp_path: Path
) -> None:
    store = shutil.copytree(original, tmp_path / "store")
    (path,) = (store / directory).glob(lost)
    path.unlink()
    assert found_in(store) == [("INV-ROCKSDB-001", f"{directory}/CURRENT")]
    with (
        closing(cluster(release, tmp_path / "home", store)) as reader,
        pytest.raises(ProcessError, match=f"broker {release}: ended with"),
    ):
        reader.start()
    shutil.move(store / directory, tmp_path / "moved")
    with closing(cluster(release, tmp_path / "again", store)) as reader:
        reader.start()
        with Client.connect(reader.broker) as client:
            client.wait_for_max_offset(topic=TOPIC, offset=COUNT, timeout_s=PATIENCE_S)

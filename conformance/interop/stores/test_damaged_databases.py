"""
Real brokers do not start if a RocksDB database of their store cannot be opened.

The audit reports it, and a broker starts after its advice was followed. It builds its
queues from the commit log again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.targets.target import TargetError
from conformance.interop.stores.traffic import PATIENCE_S
from conformance.interop.stores.undamaged_stores import broker_of
from conformance.interop.tools.audit_command import audited

SETTINGS = {"storeType": "defaultRocksDB", "timerWheelEnable": "false"}
TOPIC, COUNT = "InDatabase", 20
DIRECTORIES = ("consumequeue", "config/topics", "config/consumerOffsets")


@pytest.fixture(scope="module", params=["5.3.3", "5.5.0"])
def release(request: pytest.FixtureRequest) -> str:
    """Return the release that writes the store."""
    return str(request.param)


@pytest.fixture(scope="module")
def original(release: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a stopped store with COUNT messages, and an audit without a finding."""
    store = tmp_path_factory.mktemp("databases") / "store"
    with broker_of(release, store, SETTINGS) as (target, broker):
        require_success(broker.create_topic(topic=TOPIC, queue_count=1))
        for _ in range(COUNT):
            require_success(broker.send_message(topic=TOPIC))
        broker.wait_for_max_offset(topic=TOPIC, offset=COUNT, timeout_s=PATIENCE_S)
        target.stop()
    assert found_in(store) == []
    return store


def found_in(store: Path) -> list[tuple[str, str]]:
    """Return the invariants and files of the findings in *store*."""
    (found,) = audited(store)
    return [(one["invariant"], one["file"]) for one in found["violations"]]


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
        pytest.raises(TargetError, match=f"broker {release}: ended with"),
        broker_of(release, store, SETTINGS),
    ):
        pass
    shutil.move(store / directory, tmp_path / "moved")
    with broker_of(release, store, SETTINGS) as (_, broker):
        broker.wait_for_max_offset(topic=TOPIC, offset=COUNT, timeout_s=PATIENCE_S)

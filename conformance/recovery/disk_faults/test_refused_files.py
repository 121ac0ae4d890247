"""A configuration file that cannot be written delays no other."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from spec.layout import LayoutError
from spec.store.config.config_files import (
    BACKUP_SUFFIX,
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    decode_delay_offsets,
)

pytestmark = [pytest.mark.needs("store", "wire", "config"), pytest.mark.long]

PERIOD_MS = 10_000
"""The period of delay offsets in every release, here that of consumer offsets too.

Both tasks of a broker are then due at the same time.
"""
LEVEL = 1
TIMEOUT_S = 3 * PERIOD_MS / 1000


@pytest.mark.clause("STORE-CONFIG-017")
def test_a_refused_file_delays_no_other(start_target: TargetStarter) -> None:
    target = start_target({"flushConsumerOffsetInterval": str(PERIOD_MS)})
    assert target.store_path is not None
    files = StoreFiles(target.store_path)
    refused = files.config(CONSUMER_OFFSETS_FILE)
    for suffix in ("", ".tmp", BACKUP_SUFFIX):  # no release writes past all three
        path = refused.with_name(refused.name + suffix)
        path.unlink(missing_ok=True)  # some releases write it when they start
        (path / "entry").mkdir(parents=True)
    topic = create_topic(target, unique_name("refused"), queue_count=1)
    group = unique_name("group")
    with target.connect_to_broker() as broker:
        require_success(broker.update_group(group=group))
        require_success(broker.update_offset(group=group, topic=topic, offset=1))
        require_success(
            broker.send_message(topic=topic, properties={"DELAY": str(LEVEL)})
        )

    def is_persisted() -> bool:
        try:
            data = files.config(DELAY_OFFSETS_FILE).read_bytes()
            return decode_delay_offsets(data).get(LEVEL) == 1
        except (FileNotFoundError, LayoutError):  # also for a moment in a write
            return False

    wait_until(
        is_persisted,
        what="delayOffset.json has the delivered message",
        timeout_s=TIMEOUT_S,
    )
    expect(
        "STORE-CONFIG-017",
        found=refused.is_dir(),
        expected=True,
        what="consumerOffset.json could not be written",
    )

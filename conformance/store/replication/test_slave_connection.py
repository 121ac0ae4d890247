"""Connections of a slave: when it connects to its master and when it closes them."""

from __future__ import annotations

from contextlib import closing

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import another_target, need
from conformance.harness.targets.target import Capability, Target
from conformance.store.replication.fake_master import FakeMaster
from conformance.store.replication.slave_under_test import (
    LOG_FILE_SIZE,
    SETTINGS,
    first_records,
    new_slave,
)
from spec.store.file_names import COMMIT_LOG, file_name

pytestmark = [
    pytest.mark.long,
    pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG),
]


@pytest.mark.clause("HA-SLAVE-015")
def test_settings_that_name_the_master_have_no_effect(
    pytestconfig: pytest.Config, target: Target
) -> None:
    need(target, Capability.REPLICATION, Capability.CONFIG)
    with closing(FakeMaster()) as master:
        conf = {**SETTINGS, "haMasterAddress": str(master.address)}
        with another_target(pytestconfig, conf):
            found = master.is_dialled(timeout_s=15.0)
    expect("HA-SLAVE-015", found=found, expected=False, what="connected")


@pytest.mark.clause("HA-TRANSFER-017", "HA-TRANSFER-010", "HA-TRANSFER-013")
def test_a_slave_speaks_of_a_piece_and_hangs_up_on_a_silent_master(
    pytestconfig: pytest.Config, target: Target
) -> None:
    own = {
        # Its clock alone would let it speak after a minute.
        "haSendHeartbeatInterval": "60000",
        "haHousekeepingInterval": "3000",
        # The name server reports it after the start; the slave connects then.
        "haMasterAddress": "",
    }
    with (
        new_slave(pytestconfig, target, own) as (slave, master),
        closing(master.accept()) as link,
    ):
        end = link.send(LOG_FILE_SIZE, first_records())
        reports = link.reports_in(20.0)
        assert slave.store_path is not None
        files = sorted(slave.store_path.joinpath(COMMIT_LOG).glob("*"))
        begin = next((file.name for file in files), None)
        name = file_name(LOG_FILE_SIZE)
        expect("HA-TRANSFER-013", found=begin, expected=name, what="first file")
        spoken = reports[-1:]
        expect("HA-TRANSFER-010", found=spoken, expected=[end], what="last offset")
        found = link.is_closed()
    expect("HA-TRANSFER-017", found=found, expected=True, what="hung up")

"""Requests about replication to a broker that is a master."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_in_time,
)
from conformance.harness.pytest_plugin.known_settings import need_reported
from conformance.messaging.stored_messages import mapping_of
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def status(broker: Client) -> Mapping[str, Any]:
    """Return the state of replication."""
    return mapping_of(broker.invoke(RequestCode.GET_BROKER_HA_STATUS))


def max_offset(broker: Client) -> int:
    """Return the max offset of the commit log, in bytes."""
    info = mapping_of(broker.broker_runtime_info())
    return int(info["table"]["commitLogMaxOffset"])


@pytest.mark.clause("HA-STATUS-001")
def test_a_master_without_slaves_reports_its_log(broker: Client, topic: str) -> None:
    require_success(broker.send_message(topic=topic))
    expect_in_time(
        "HA-STATUS-001",
        lambda: status(broker)["haConnectionInfo"],
        expected=[],
        what="haConnectionInfo without slaves",
        transcript=broker.transcript,
    )
    least = max_offset(broker)
    found = status(broker)
    most = max_offset(broker)  # Other tests may send meanwhile.
    reported = int(found["masterCommitLogMaxOffset"])
    expect(
        "HA-STATUS-001",
        found=(found["master"], least <= reported <= most),
        expected=(True, True),
        what=f"master, and whether {reported} is {least} to {most}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("HA-STATUS-002")
def test_a_master_has_no_flush_offset_to_reset(broker: Client) -> None:
    def flushed() -> object:
        return status(broker)["haClientRuntimeInfo"]["masterFlushOffset"]

    before = flushed()
    fields = {"masterFlushOffset": 4_096}
    response = broker.invoke(RequestCode.RESET_MASTER_FLUSH_OFFSET, fields)
    expect_code("HA-STATUS-002", response, ResponseCode.SUCCESS, broker.transcript)
    expect(
        "HA-STATUS-002",
        found=flushed(),
        expected=before,
        what="masterFlushOffset",
        transcript=broker.transcript,
    )


@pytest.mark.clause("HA-EXCHANGE-001")
def test_a_master_returns_its_addresses(broker: Client) -> None:
    response = broker.invoke(RequestCode.EXCHANGE_BROKER_HA_INFO)
    found = dict(require_success(response).fields)
    settings = broker.broker_settings()
    need_reported(["haListenPort"], settings)
    ha_host = settings.get("brokerIP2", broker.address.host)
    ha_address = f"{ha_host}:{settings['haListenPort']}"
    offset = found.pop("masterFlushOffset", "(absent)")
    expect(
        "HA-EXCHANGE-001",
        found=(
            found.get("masterAddress"),
            found.get("masterHaAddress"),
            offset.isdigit(),
        ),
        expected=(str(broker.address), ha_address, True),
        what=f"masterAddress, masterHaAddress, and whether {offset} is a number",
        transcript=broker.transcript,
    )

"""Consumers since 5.0 and bodies that were compressed in several ways."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from conformance.client.application import Application
from conformance.client.calls import body_of
from conformance.client.consumer.pulls import one_queue, record_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.harness.pytest_plugin.expectations import expect
from spec.store.message_record import SystemFlag

METHOD_SHIFT = 8
BODY = b"rocketmq" * 1000
"""Less than a block of LZ4, so that no block needs the one before it."""


LZ4 = bytes.fromhex(
    "04224d18604082310000008f726f636b65746d710800ffffffffffffffffffffffffffffff"
    "ffffffffffffffffffffffffffffffff3f506b65746d7100000000"
)
"""`BODY` as a frame of LZ4, by `pyarrow.compress`: the base installs no LZ4."""
ZSTD = bytes.fromhex("28b52ffd60401e85000040726f636b65746d71010035bfbe7001")
"""`BODY` as a frame of Zstandard, by `pyarrow.compress`."""


@pytest.mark.clause("CLIENT-PULL-009")
@pytest.mark.parametrize(
    ("method", "compressed"),
    [
        pytest.param(0, zlib.compress(BODY), id="0-zlib"),
        pytest.param(1, LZ4, id="1-lz4"),
        pytest.param(2, ZSTD, id="2-zstd"),
        pytest.param(3, zlib.compress(BODY), id="3-zlib"),
    ],
)
def test_a_body_is_inflated_as_its_flags_say(
    application: Application,
    cluster: ScriptedCluster,
    topic: str,
    method: int,
    compressed: bytes,
) -> None:
    broker = one_queue(cluster, topic)
    made = record_of(broker, topic, compressed)
    flags = SystemFlag.COMPRESSED | method << METHOD_SHIFT
    broker.put_record(replace(made, system_flags=flags))
    found = body_of(application.consumer(topic).wait_for()[0])
    expect("CLIENT-PULL-009", found=found, expected=BODY, what="body")

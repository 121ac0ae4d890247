"""Consumers since 5.0 and bodies that were compressed in several ways."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

import pyarrow
import pytest

from conformance.client.application import Application, body_of
from conformance.client.scripted_cluster import ScriptedCluster
from conformance.client.test_pulling import one_queue, record_of
from conformance.harness.pytest_plugin.expectations import expect
from spec.store.message_record import SystemFlag

METHOD_SHIFT = 8
BODY = b"rocketmq" * 1000
"""Less than a block of LZ4, so that no block needs the one before it."""


def by_arrow(codec: str) -> Callable[[bytes], bytes]:
    """Return a function that compresses with a codec of Arrow."""

    def compressed(body: bytes) -> bytes:
        return bytes(pyarrow.compress(body, codec=codec, asbytes=True))

    return compressed


@pytest.mark.clause("CLIENT-PULL-009")
@pytest.mark.parametrize(
    ("method", "compressed"),
    [
        pytest.param(0, zlib.compress, id="0-zlib"),
        pytest.param(1, by_arrow("lz4"), id="1-lz4"),
        pytest.param(2, by_arrow("zstd"), id="2-zstd"),
        pytest.param(3, zlib.compress, id="3-zlib"),
    ],
)
def test_a_body_is_inflated_as_its_flags_say(
    application: Application,
    cluster: ScriptedCluster,
    topic: str,
    method: int,
    compressed: Callable[[bytes], bytes],
) -> None:
    broker = one_queue(cluster, topic)
    made = record_of(broker, topic, compressed(BODY))
    flags = SystemFlag.COMPRESSED | method << METHOD_SHIFT
    broker.put_record(replace(made, system_flags=flags))
    found = body_of(application.consumer(topic).wait_for()[0])
    expect("CLIENT-PULL-009", found=found, expected=BODY, what="body")

"""Topics and compressed bodies of received messages."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pyarrow
import pytest

from reference.core.client.pull import message_ext
from reference.core.client.pull.message_ext import (
    MessageExt,
    decode_message,
    decompress,
)
from reference.tests.client.peers import record
from reference.tests.client.push_peers import PushPeers
from spec.layout import LayoutError
from spec.store.message_record import SystemFlag, encode_record
from spec.wire.message.properties import Property, encode_properties


@pytest.mark.parametrize(
    ("topic", "expected"), [("%RETRY%g", "T"), ("%DLQ%g", "%DLQ%g"), ("T2", "T2")]
)
def test_only_a_message_of_a_retry_topic_has_its_original_topic(
    topic: str, expected: str
) -> None:
    properties = encode_properties({Property.RETRY_TOPIC: "T"})
    stored = replace(record(0), topic=topic, properties=properties)
    body = encode_record(stored)
    assert decode_message(body, "a").topic == expected


def test_a_compressed_body_is_inflated() -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    body = zlib.compress(b"hello")
    peers.find(peers.pull(), record(0, body, flags=SystemFlag.COMPRESSED))
    (delivery,) = peers.delivered()
    (message,) = delivery.messages
    assert isinstance(message, MessageExt)
    assert message.body == b"hello"


@pytest.mark.parametrize(("method", "codec"), [(1, "lz4"), (2, "zstd")])
def test_a_body_is_inflated_by_the_method_that_its_flags_name(
    method: int, codec: str
) -> None:
    body = pyarrow.compress(b"hello", codec=codec, asbytes=True)
    assert decompress(body, method << 8 | SystemFlag.COMPRESSED) == b"hello"


@pytest.mark.parametrize("method", [0, 1, 2, 3, 7])
def test_a_body_that_cannot_be_inflated_is_an_error_of_layout(method: int) -> None:
    with pytest.raises(LayoutError, match=r"decompress|unknown compression method"):
        decompress(b"hello", method << 8 | SystemFlag.COMPRESSED)


@pytest.mark.parametrize("method", [0, 1, 2])
def test_a_body_may_not_grow_without_a_limit(
    method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_ext, "DECOMPRESSED_SIZE_MAX", 999)
    codec = {1: "lz4", 2: "zstd"}.get(method)
    whole = bytes(1_000)
    body = (
        pyarrow.compress(whole, codec=codec, asbytes=True)
        if codec
        else zlib.compress(whole)
    )
    with pytest.raises(LayoutError, match="to over 999 bytes"):
        decompress(body, method << 8 | SystemFlag.COMPRESSED)


def test_a_stream_without_its_end_is_refused() -> None:
    with pytest.raises(LayoutError, match="without its end"):
        decompress(zlib.compress(b"hello" * 99)[:-5], SystemFlag.COMPRESSED)

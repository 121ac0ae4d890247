"""How compressed bodies are inflated."""

from __future__ import annotations

import zlib

import pyarrow
import pytest

from reference.core.client.pull.message_ext import MessageExt, decompress
from reference.tests.client.reading import Reading, record
from spec.layout import LayoutError
from spec.store.message_record import SystemFlag


def test_a_compressed_body_is_inflated() -> None:
    reading = Reading(from_first=True)
    reading.start()
    body = zlib.compress(b"hello")
    reading.find(reading.pull(), record(0, body, flags=SystemFlag.COMPRESSED))
    (delivery,) = reading.delivered()
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

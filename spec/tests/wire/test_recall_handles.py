"""Recall handles of timed messages: base64 of five words."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest

from spec.layout import LayoutError
from spec.wire.message.timed import (
    RecallHandle,
    decode_recall_handle,
    encode_recall_handle,
)

HANDLE = RecallHandle(
    topic="Bills", broker_name="broker-a", time="1700000000000", unique_key="AC11"
)


def test_a_handle_is_read_as_it_was_written() -> None:
    assert decode_recall_handle(encode_recall_handle(HANDLE)) == HANDLE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64",
        "\u00e9\U0001f600",
        urlsafe_b64encode(b"\xff\xfe").decode(),
        urlsafe_b64encode(b"v1 Bills broker-a 1700000000000").decode(),
        urlsafe_b64encode(b"v2 Bills broker-a 1700000000000 AC11").decode(),
    ],
    ids=["empty", "spaces", "not ASCII", "not UTF-8", "four words", "version"],
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(LayoutError, match="is not a recall handle"):
        decode_recall_handle(text)

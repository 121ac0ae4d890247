"""
Every decoder is tested with complete bytes, with truncated bytes, and with bytes left
over. One function serves all decoders, so that each gets the same tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from spec.layout import LayoutError

Decode = Callable[[bytes], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoder:
    """A decoder, good bytes for it, and what it does with bytes after them."""

    decode: Decode
    encode: Callable[[Any], bytes]
    sample: bytes
    ignores_rest: bool
    """Whether what follows is left alone; else it is refused."""
    least: int | None = None
    """Bytes that suffice, where a part of the sample already does."""


def check(decoder: Decoder) -> None:
    """Try *decoder* complete, at every truncation, and with bytes left over."""
    whole = decoder.decode(decoder.sample)
    assert decoder.encode(whole) == decoder.sample
    least = len(decoder.sample) if decoder.least is None else decoder.least
    for size in range(least):
        with pytest.raises(LayoutError):
            decoder.decode(decoder.sample[:size])
    if decoder.ignores_rest:
        assert decoder.decode(decoder.sample + b"more") == whole
    else:
        with pytest.raises(LayoutError):
            decoder.decode(decoder.sample + b"more")

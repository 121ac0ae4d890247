"""
No bytes make a decoder do anything but return or raise LayoutError, soon and small.

Recorded bytes are damaged by accident, again and again. ``tox -e fuzz`` does the same
for longer, guided by what code is reached (see bench/longrun/fuzz.py).
"""

from __future__ import annotations

import contextlib
import time
import tracemalloc
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec.decoders import OF_OUR_OWN, AnyDecoder, all_decoders, decoding_functions
from spec.layout import LayoutError
from spec.layouts import LAYOUTS
from spec.samples import samples_of
from spec.tests.decoders import decoder_samples
from spec.tests.strategies import damaged

FIXTURES = Path(__file__).parents[3] / "fixtures"
QUICK = 40
"""Examples a decoder in the quick profile: there are more than a hundred of them."""
MEMORY_FREE = 64 * 1024
"""Bytes that any decoder may take, however little it is given."""
PROCESSOR_S_MAX = 2.0
"""Seconds for a few kilobytes; a decoder takes milliseconds."""

DECODERS = all_decoders()


@cache
def recorded_samples() -> tuple[bytes, ...]:
    """Return different things that real releases wrote, and one of each other kind."""
    found = {decoder.sample for decoder in decoder_samples.DECODERS.values()}
    frames = sorted(FIXTURES.glob("wire/*-json"))
    for folder in [*frames, FIXTURES / "store" / "5.3.3-killed", FIXTURES / "parts"]:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                found.update(samples_of(str(path), path.read_bytes()))
    return tuple(sorted(found, key=lambda data: (len(data), data)))


@cache
def samples_for(name: str) -> tuple[bytes, ...]:
    """Return the recorded samples that the decoder takes, or all if it takes none."""
    taken = tuple(data for data in recorded_samples() if _takes(DECODERS[name], data))
    return taken or recorded_samples()


def _takes(decoder: AnyDecoder, data: bytes) -> bool:
    try:
        decoder.decode(data)
    except LayoutError:
        return False
    return True


@pytest.mark.parametrize("name", DECODERS)
def test_damaged_bytes_are_read_or_refused_soon_and_in_little_memory(name: str) -> None:
    decoder = DECODERS[name]
    count = max(QUICK, settings().max_examples // 3 if _is_deep() else QUICK)

    @settings(max_examples=count)
    @given(damaged(st.sampled_from(samples_for(name))))
    def attempt(data: bytes) -> None:
        allowed = MEMORY_FREE + decoder.growth * len(data)
        # A thread of the test worker may allocate meanwhile: the least of three counts.
        assert any(_peak_of(decoder, data) <= allowed for _ in range(3))

    attempt()


def _peak_of(decoder: AnyDecoder, data: bytes) -> int:
    """Return the peak of allocated bytes while *data* is decoded, in little time."""
    tracemalloc.start()
    try:
        began = time.process_time()
        with contextlib.suppress(LayoutError):
            decoder.decode(data)
        assert time.process_time() - began < PROCESSOR_S_MAX
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _is_deep() -> bool:
    return settings.get_current_profile_name() == "deep"


@pytest.mark.parametrize("name", DECODERS)
def test_every_recorded_sample_is_read_or_refused(name: str) -> None:
    for data in recorded_samples():
        _takes(DECODERS[name], data)


def test_recorded_samples_are_of_many_kinds() -> None:
    taking = {
        name for name in DECODERS if len(samples_for(name)) < len(recorded_samples())
    }
    assert len(recorded_samples()) > 300
    assert {
        "store.message_record.decode_record",
        "wire.remoting.command.decode_command",
    } <= taking


def test_every_decoding_function_and_layout_is_among_the_decoders() -> None:
    functions = set(decoding_functions()) - set(OF_OUR_OWN)
    missing = {name.removeprefix("spec.") for name in functions} - set(DECODERS)
    assert missing == {"wire.bodies.json_body.decode_body"}, (
        "it stands for each of its bodies"
    )
    assert set(OF_OUR_OWN) <= set(decoding_functions())
    assert {f"layout {name}" for name in LAYOUTS} <= set(DECODERS)
    assert {f"codec {name}" for name in LAYOUTS} <= set(DECODERS)
    assert len([name for name in DECODERS if name.startswith("body ")]) > 20

"""The fuzzing harness lets pass what a decoder may do, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.longrun import fuzz
from bench.longrun.fuzz import GreedyDecoderError, attempt, main, report, write_corpus
from spec.decoders import AnyDecoder, all_decoders
from spec.layout import LayoutError


def decoder(decode: Callable[[bytes], object]) -> AnyDecoder:
    return AnyDecoder(name="one", decode=decode)


def refuse(data: bytes) -> object:
    raise LayoutError(f"{len(data)} bytes")


def fail(data: bytes) -> object:
    return data[9]


@pytest.mark.parametrize("measured", [1, 2**32])
def test_a_decoder_may_return_or_refuse(
    measured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "MEASURED", measured)
    attempt(decoder(len), b"bytes")
    attempt(decoder(refuse), b"bytes")
    with pytest.raises(IndexError):
        attempt(decoder(fail), b"bytes")


def test_a_decoder_may_not_take_any_amount_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fuzz, "MEASURED", 1)
    with pytest.raises(GreedyDecoderError, match="for 5 bytes"):
        attempt(decoder(lambda data: bytes(300_000 * len(data))), b"bytes")


def test_a_corpus_has_recorded_samples_of_each_decoder(tmp_path: Path) -> None:
    names = [
        "store.checkpoint.decode_checkpoint",
        "wire.remoting.command.decode_command",
    ]
    write_corpus(tmp_path / "corpus", names)
    seeds = [path.read_bytes() for path in sorted((tmp_path / "corpus").iterdir())]
    assert len(seeds) > 10
    for data in seeds:
        all_decoders()[names[data[0]]].decode(data[1:])


def test_a_finding_is_told_with_its_bytes() -> None:
    line = report("crash-12ab", b"\1\xff\0", ["a", "b"])
    assert line == "crash: b with ff00"


def test_an_unknown_decoder_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["1", "no such"]) == 2
    assert "'no such'" in capsys.readouterr().err

"""
Coverage-guided fuzzing of every decoder.

    python -m bench.longrun.fuzz SECONDS [NAME...]

Atheris (libFuzzer for Python) changes recorded bytes, keeps inputs that reach new code
and continues with them. A decoder may return or raise LayoutError. Anything else ends
the run, including a decoder that takes longer than ten seconds or more memory than the
declared multiple of its input. The input at fault is printed and kept.

The property tests of ``spec`` do the same for seconds in every run; this is for longer
ones. Nothing here needs more than construct and atheris: ``tox -e fuzz -- 600``.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import tracemalloc
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from rocketmq_conformance.paths import module_command
from spec.decoders import AnyDecoder, all_decoders
from spec.layout import LayoutError
from spec.samples import samples_of

FIXTURES = Path(__file__).parents[2] / "fixtures"
MEMORY_FREE = 256 * 1024
"""Bytes that any decoder may take, however little it is given."""
SEEDS = 12
"""Recorded samples to begin with, of each decoder."""
SEED_SIZE_MAX = 4096
TIMEOUT_S = 10
MEMORY_LIMIT_MB = 2048
MEASURED = 8
"""One input of so many has its memory measured, which costs more than decoding."""


class GreedyDecoderError(Exception):
    """A decoder took more memory than its input's size allows."""


def main(words: Sequence[str]) -> int:
    """Fuzz for so many seconds; return 0, or 1 when a decoder failed."""
    seconds = int(words[0]) if words else 60
    names = list(words[1:]) or list(all_decoders())
    unknown = [name for name in names if name not in all_decoders()]
    if unknown:
        sys.stderr.write(f"no decoder is called {unknown[0]!r}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        write_corpus(corpus, names)
        command = module_command("bench.longrun.fuzz_target", "\n".join(names))
        limits = [
            f"-max_total_time={seconds}",
            f"-timeout={TIMEOUT_S}",
            f"-rss_limit_mb={MEMORY_LIMIT_MB}",
            f"-max_len={2 * SEED_SIZE_MAX}",
            "-print_final_stats=1",
            "-verbosity=0",
            f"-artifact_prefix={folder}/",
        ]
        run = subprocess.run([*command, *limits, str(corpus)])
        for found in sorted(Path(folder).glob("*-*")):
            sys.stderr.write(f"{report(found.name, found.read_bytes(), names)}\n")
    return 1 if run.returncode else 0


def report(kind: str, data: bytes, names: Sequence[str]) -> str:
    """Return a line about the input *data* that ended a run."""
    name = names[data[0] % len(names)] if data else names[0]
    return f"{kind.partition('-')[0]}: {name} with {data[1:].hex()}"


def write_corpus(corpus: Path, names: Sequence[str]) -> None:
    """Write recorded samples of *names*; the first byte selects the decoder."""
    corpus.mkdir()
    samples = sorted(set(_recorded()), key=len)
    for number, name in enumerate(names):
        decoder = all_decoders()[name]
        taken = [data for data in samples if _takes(decoder, data)]
        few = taken[:: max(1, len(taken) // SEEDS)][:SEEDS] or [bytes(64)]
        for index, data in enumerate(few):
            (corpus / f"{number}-{index}").write_bytes(bytes([number]) + data)


def attempt(decoder: AnyDecoder, data: bytes) -> None:
    """Let *decoder* read *data*; raises what a decoder must not raise."""
    if zlib.crc32(data) % MEASURED:
        with contextlib.suppress(LayoutError):
            decoder.decode(data)
        return
    tracemalloc.start()
    try:
        with contextlib.suppress(LayoutError):
            decoder.decode(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if peak > MEMORY_FREE + decoder.growth * len(data):
        raise GreedyDecoderError(f"{peak} bytes of memory for {len(data)} bytes")


def _recorded() -> Iterable[bytes]:
    """Yield the decodable recordings of all releases."""
    for folder in ("wire", "store", "parts"):
        for path in sorted((FIXTURES / folder).rglob("*")):
            if path.is_file():
                for data in samples_of(str(path), path.read_bytes()):
                    yield data[:SEED_SIZE_MAX]


def _takes(decoder: AnyDecoder, data: bytes) -> bool:
    try:
        decoder.decode(data)
    except LayoutError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""
Apache's own message decoder, held ready in a warm Java machine.

The harness is one class of ours, ``bench/java/DecodeLog.java``; ``java_classes.py``
compiles it.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from bench.java_classes import FOLDER, JavaCompileError, whole_class_path
from conformance.harness.java import find_java

SOURCE = FOLDER / "DecodeLog.java"
OPTIONS = ("-Xms1g", "-Xmx1g", "-XX:+UseParallelGC")
"""Room for a pass without a pause, and the collector with the highest throughput."""
WAYS = ("with-body", "without-body", "with-crc")


class JavaDecoderError(Exception):
    """Java did not compile or did not decode."""


class JavaDecoder:
    """A running Java machine that decodes one commit log when told to."""

    def __init__(self, release: str, log: Path) -> None:
        try:
            path = whole_class_path(SOURCE, release)
        except JavaCompileError as error:
            raise JavaDecoderError(str(error)) from error
        self._said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed below
        self._process = subprocess.Popen(
            [str(find_java()), *OPTIONS, "-cp", path, SOURCE.stem, str(log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )
        self.java_version = self._answer().removeprefix("ready").strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the Java machine; closing twice is harmless."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        self._said.close()

    def passes(self, way: str, count: int) -> tuple[int, list[float]]:
        """Return the records of a pass in this *way*, and the seconds of each pass."""
        orders = _pipe(self._process.stdin)
        orders.write(f"{way} {count}\n")
        orders.flush()
        records, *times = self._answer().split()
        return int(records), [int(time) / 1e9 for time in times]

    def _answer(self) -> str:
        line = _pipe(self._process.stdout).readline()
        if not line:
            self._process.wait()
            self._said.seek(0)
            said = self._said.read().strip()
            raise JavaDecoderError(said.splitlines()[0] if said else "Java ended")
        return line


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe

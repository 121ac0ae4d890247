"""
Apache's own message decoder, held ready in a warm Java machine.

The harness is one class of ours, ``java/DecodeLog.java``; ``java_classes.py``
compiles it.
"""

from __future__ import annotations

from pathlib import Path

from bench.processes.command_process import CommandProcess
from bench.processes.java_classes import FOLDER, JavaCompileError, whole_class_path
from java_runtime.find_java import find_java

SOURCE = FOLDER / "DecodeLog.java"
OPTIONS = ("-Xms1g", "-Xmx1g", "-XX:+UseParallelGC")
"""Room for a pass without a pause, and the collector with the highest throughput."""
WAYS = ("with-body", "without-body", "with-crc")


class JavaDecoderError(Exception):
    """Java did not compile or did not decode."""


class JavaDecoder(CommandProcess):
    """A running Java machine that decodes one commit log per order."""

    def __init__(self, release: str, log: Path) -> None:
        try:
            path = whole_class_path(SOURCE, release=release)
        except JavaCompileError as error:
            raise JavaDecoderError(str(error)) from error
        super().__init__(
            [str(find_java()), *OPTIONS, "-cp", path, SOURCE.stem, str(log)]
        )
        self.java_version = self._response().removeprefix("ready").strip()

    def passes(self, way: str, count: int) -> tuple[int, list[float]]:
        """Return the records of a pass in this *way*, and the seconds of each pass."""
        self._order(f"{way} {count}")
        records, *times = self._response().split()
        return int(records), [int(time) / 1e9 for time in times]

    def _response(self) -> str:
        line = self._line()
        if not line:
            self._process.wait()
            error = self._complaint()
            raise JavaDecoderError(error.splitlines()[0] if error else "Java ended")
        return line

"""
Apache's own message decoder, held ready in a warm Java machine.

The harness is one class of ours, ``bench/java/DecodeLog.java``. It is compiled where it
is first needed: with the Java's own compiler, or with Eclipse's, one jar, where there
is only a runtime. Classes are kept in the user's cache, by the text that they are of.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from conformance.harness.apache import class_path
from conformance.harness.jars import resolve
from conformance.harness.java import cache_directory, find_java

SOURCE = Path(__file__).with_name("java") / "DecodeLog.java"
ECJ = "org.eclipse.jdt:ecj:3.40.0"
"""A Java compiler that needs no more than a Java runtime."""
OPTIONS = ("-Xms1g", "-Xmx1g", "-XX:+UseParallelGC")
"""Room for a pass without a pause, and the collector with the highest throughput."""
WAYS = ("with-body", "without-body", "with-crc")


class JavaDecoderError(Exception):
    """Java did not compile or did not decode."""


class JavaDecoder:
    """A running Java machine that decodes one commit log when told to."""

    def __init__(self, release: str, log: Path) -> None:
        classes = compile_harness(release)
        path = os.pathsep.join([str(classes), class_path(release)])
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


def compile_harness(release: str) -> Path:
    """Return the directory with the harness's class, compiled against *release*."""
    text = SOURCE.read_bytes() + release.encode()
    name = f"decode-log-{hashlib.sha256(text).hexdigest()[:16]}"
    folder = cache_directory() / "bench" / name
    if not (folder / "DecodeLog.class").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [*_compiler(), "-cp", class_path(release), "-d", str(folder)]
        run = subprocess.run(
            [*command, str(SOURCE)], capture_output=True, text=True, timeout=120
        )
        if run.returncode:
            raise JavaDecoderError((run.stdout + run.stderr).strip())
    return folder


def _compiler() -> list[str]:
    """Return the command of javac where there is one, else of Eclipse's compiler."""
    java = find_java()
    javac = java.with_name("javac")
    if javac.exists():
        return [str(javac)]
    (jar,) = resolve([ECJ], transitive=False)
    return [str(java), "-jar", str(jar), "-8", "-nowarn"]


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe

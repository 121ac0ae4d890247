"""
A real Spark cluster on loopback: a master and workers, each a separate process.

They are PySpark's own classes, on the audits' Java. The kernel kills master and workers
with the process that started them. Executors end when their worker is gone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from spark_checks.session.java_home import prepare_java_home

DEADLINE_S = 600.0
_LAUNCHER = """
import ctypes, os, signal, sys
parent = int(sys.argv[1])
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != parent:
    os._exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Requests a kill signal at the parent's death, then executes the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Running master with registered workers."""

    url: str
    python: Path
    """Python of the workers."""
    work: Path
    """Directory of the executors, with the shipped files."""
    environment: Mapping[str, str]
    """Environment of the workers and executors."""
    process_ids: tuple[int, ...]


@contextmanager
def standalone_cluster(
    directory: Path, python: Path, more: Mapping[str, str], *, workers: int = 2
) -> Iterator[Cluster]:
    """Yield a cluster with files in *directory* and *more* in its environment.

    Each of its *workers* has one processor. A driver names their *python* itself.
    """
    environment = {
        "PATH": os.environ["PATH"],
        "JAVA_HOME": str(prepare_java_home(directory / "java")),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(directory / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        **more,
    }
    with ExitStack() as stack:

        def start(name: str, kind: str, *arguments: str) -> tuple[int, Path]:
            words = [f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1"]
            words += ["--port", "0", "--webui-port", "0", *arguments]
            log = directory / f"{name}.log"
            daemon = _daemon(words, log, environment, directory)
            return stack.enter_context(daemon), log

        process_id, log = start("master", "master.Master")
        url = _awaited(log, r"Starting Spark master at (spark://\S+)")[0]
        process_ids = [process_id]
        work = directory / "work"
        for number in range(workers):
            place = ("--work-dir", str(work / str(number)))
            size = ("--cores", "1", "--memory", "1g")
            process_id, _ = start(
                f"worker-{number}", "worker.Worker", *size, *place, url
            )
            process_ids.append(process_id)
        _awaited(log, "(Registering worker)", count=workers)
        yield Cluster(
            url=url,
            python=python,
            work=work,
            environment=environment,
            process_ids=tuple(process_ids),
        )


@contextmanager
def _daemon(
    words: list[str], log: Path, environment: Mapping[str, str], directory: Path
) -> Iterator[int]:
    """Run a class of Spark's, and terminate it at the end."""
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(os.getpid())]
    program = str(Path(environment["SPARK_HOME"]) / "bin" / "spark-class")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*launcher, "/bin/bash", program, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            cwd=directory,
        )
    try:
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(timeout=DEADLINE_S)
        finally:
            process.kill()
            process.wait()


def _awaited(log: Path, pattern: str, *, count: int = 1) -> list[str]:
    """Return the match of *pattern* in *log*, once there are *count* of them."""
    give_up_at = time.monotonic() + DEADLINE_S
    while True:
        text = log.read_text(encoding="utf-8", errors="replace")
        found = re.findall(pattern, text)
        if len(found) >= count:
            return found
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"no {pattern!r}, {count} times, in {log}:\n{text}")
        time.sleep(0.05)

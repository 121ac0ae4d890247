"""
Spark sessions for audits: quiet, on loopback, without leftovers.

Spark's files go to a temporary directory. Its log is read only if it fails.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from java_runtime.find_java import JavaUnavailableError
from spark_checks.file_systems import NotAStoreError
from spark_checks.progress import Progress, silent
from spark_checks.session.early_daemon import SOCKET_VARIABLE, early_daemon, end_process
from spark_checks.session.java_home import class_archive, prepare_java_home
from spark_checks.session.kernel_request import requests
from spark_checks.session.settings import (
    INTERPRETED_MAX,
    QUERIES_OF_FEW_ROWS,
    SOCKET_PATH_MAX,
    local_processors,
    spark_environment,
    spark_settings,
)
from spark_checks.session.worker_archive import OWN
from spark_checks.session.workers import start_workers

END_S = 1
"""Seconds for a Java that has closed its connections to end."""
JAVA_HAS_ENDED = "Spark's Java has ended: it was killed, maybe for lack of memory"
START_SIZE = 32 << 10
"""Bytes of files at Spark's start. On a full disk PySpark waits for Java for ever."""
STOP_S = 120
"""Seconds for Java to end; the first session takes one to write its class archive."""


class SparkError(Exception):
    """Spark did not start, or failed."""


_WITHOUT_REASON = "Error initializing SparkContext"
"""Text of Spark's log that precedes the line with the reason."""
FAILURES = (PySparkException, Py4JJavaError)
"""Errors of a failed Spark job."""


_unreadable_file = re.compile(r"^\S*NotAStoreError: (.+)$", re.MULTILINE)
"""Last line of the traceback of a worker that could not read a file."""


def failed(error: Exception) -> SparkError | NotAStoreError:
    """Return *error*, one of FAILURES, as an error of one line.

    It is a NotAStoreError if a worker could not read a file of the store.
    """
    if isinstance(error, Py4JJavaError):
        text = str(error.java_exception.getMessage())
    else:
        text = str(error)
    unreadable = _unreadable_file.search(text)
    if unreadable is not None:
        return NotAStoreError(unreadable[1])
    return SparkError(text.splitlines()[0])


@contextmanager
def spark_session(master: str = "local[*]") -> Iterator[SparkSession]:
    """Yield a session on *master* that has the sources; see :func:`spark_context`."""
    # Imported late: an audit registers only the sources that it reads.
    from spark_checks.readers.register import register_sources

    with spark_context(master) as context:
        session = session_of(context)
        register_sources(session)
        yield session


def session_of(context: SparkContext) -> SparkSession:
    """Return the session for tables, which Java makes at the first call.

    That takes 1.2 s of processor time. The audit of an intact store reads no tables.
    """
    assert context is SparkContext._active_spark_context
    return SparkSession.builder.getOrCreate()


@contextmanager
def spark_context(
    master: str,
    *,
    size: int | None = None,
    progress: Progress = silent,
    packages: Sequence[str] = OWN,
) -> Iterator[SparkContext]:
    """Yield a context on *master*, and stop it and its Java at the end.

    With *size*, the bytes of the largest store, Python workers are started too, with
    kernels if that pays. Queries of small stores are interpreted. The workers of a
    cluster get the *packages* of the project.
    """
    with _own_directory() as directory, ExitStack() as after_stop:
        log = directory / "spark.log"
        try:
            java_home = prepare_java_home(directory / "java")
            archive = class_archive(java_home)
            draft = after_stop.enter_context(archive.draft())
            surroundings = _variables(spark_environment(master, java_home, directory))
            with surroundings, _output_to(log), _killed_on_failure(log):
                if size is not None:
                    after_stop.enter_context(_early_daemon(master, directory, size))
                settings = spark_settings(master, directory, archive, draft, packages)
                if size is not None and size <= INTERPRETED_MAX:
                    settings = {**settings, **QUERIES_OF_FEW_ROWS}
                context = _start(master, settings)
                if size is not None:
                    progress("starting Python workers")
                    start_workers(context, size)
        except JavaUnavailableError as error:
            raise SparkError(str(error)) from None
        except OSError as error:
            raise SparkError(_why(error, log)) from error
        try:
            yield context
        except BaseException as error:
            has_ended = isinstance(error, Exception) and _has_java_ended(context, error)
            # Threads of Py4J that lose their Java print tracebacks.
            with redirect_stderr(StringIO()), suppress(Exception):
                _stop(context)
            if has_ended:
                raise SparkError(JAVA_HAS_ENDED) from error
            raise
        _stop(context)


@contextmanager
def _own_directory() -> Iterator[Path]:
    """Yield a new temporary directory that has room for a start; SparkError."""
    try:
        held = tempfile.TemporaryDirectory(prefix="rmqc-audit-")
    except OSError as error:
        raise SparkError(f"Spark did not start: {error.strerror or error}") from None
    with held as name:
        probe = Path(name, "probe")
        try:
            probe.write_bytes(bytes(START_SIZE))
        except OSError as error:
            reason = f"{name} cannot be written: {error.strerror}"
            raise SparkError(f"Spark did not start: {reason}") from None
        probe.unlink()
        yield Path(name)


@contextmanager
def _early_daemon(master: str, directory: Path, size: int) -> Iterator[None]:
    """Run a daemon that imports while Java starts, if *master* is local."""
    processors = local_processors(master)
    path = directory / "daemon.sock"
    if processors is None or len(os.fsencode(path)) > SOCKET_PATH_MAX:
        yield
        return
    variables = _variables({SOCKET_VARIABLE: str(path)})
    with variables, early_daemon(path, requests(size, processors)):
        yield


def _start(master: str, settings: Mapping[str, str]) -> SparkContext:
    """Return a context with *settings*."""
    conf = SparkConf().setMaster(master).setAppName("rmqc audit")
    conf.setAll([*settings.items()])
    # Py4J logs interrupted calls; without a handler Python prints them.
    logging.getLogger().addHandler(logging.NullHandler())
    with _own_interrupt_handler():
        context = SparkContext.getOrCreate(conf)
    context.setLogLevel("OFF")
    # It prints a traceback for the connection of a Java that is killed.
    server: Any = context._accumulatorServer
    server.handle_error = _ignore_request
    return context


def _ignore_request(_request: object, _client: object) -> None:
    """Ignore the error of a request: a call of Java fails as well."""


@contextmanager
def _own_interrupt_handler() -> Iterator[None]:
    """Restore the handler of SIGINT, which a SparkContext replaces.

    Spark's handler calls Java, amid another call on the same connection.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def _variables(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, and restore them at the end."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _output_to(log: Path) -> Iterator[None]:
    """Redirect the output and the errors of child processes to *log*.

    Java reports on standard output that it cannot write a class archive.
    """
    kept = {}
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    try:
        with log.open("wb") as file:
            for number in (1, 2):
                kept[number] = os.dup(number)
                os.dup2(file.fileno(), number)
        yield
    finally:
        for number, stream_before in kept.items():
            os.dup2(stream_before, number)
            os.close(stream_before)


@contextmanager
def _killed_on_failure(log: Path) -> Iterator[None]:
    """Kill Spark's processes if its start fails or is interrupted; SparkError.

    PySpark keeps its Java only after Java has reported its port. If the start is
    interrupted earlier, Java fails in its main thread while its other threads keep it
    alive.
    """
    before = set(psutil.Process().children(recursive=True))
    try:
        yield
    except BaseException as error:
        reason = _why(error, log)  # now: Java may have the text
        children = set(psutil.Process().children()) - before
        for process in set(psutil.Process().children(recursive=True)) - before:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        # Until then Java may write into the directory that is removed next.
        psutil.wait_procs(children, timeout=STOP_S)
        _forget_gateway()
        if isinstance(error, Exception):  # Py4J raises many types
            raise SparkError(reason) from error
        raise


def _has_java_ended(context: SparkContext, error: Exception) -> bool:
    """Return whether Java was killed, after which Py4J raises many types."""
    process = getattr(context._gateway, "proc", None)
    if process is None or isinstance(error, SparkError | NotAStoreError):
        return False
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_S)
    return process.poll() is not None


def _stop(context: SparkContext) -> None:
    """Stop *context* and end the Java process behind it."""
    gateway = context._gateway
    (SparkSession._instantiatedSession or context).stop()
    if gateway is not None:
        gateway.shutdown()
        process = getattr(gateway, "proc", None)
        if process is not None:
            end_process(process, STOP_S)
    _forget_gateway()


def _forget_gateway() -> None:
    """Drop the gateway, so that the next session starts a new Java."""
    SparkContext._gateway = None
    SparkContext._jvm = None


def _why(error: BaseException, log: Path) -> str:
    """Return the reason of Spark's failure in one line."""
    output = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    lines = [
        line
        for line in output.splitlines()
        if ("rror" in line or "xception" in line) and _WITHOUT_REASON not in line
    ]
    if not lines:
        text = failed(error) if isinstance(error, FAILURES) else error
        lines = str(text).splitlines() or [repr(error)]
    found = lines[0]
    return f"Spark did not start: {found.strip()}"

"""
Spark sessions for audits: quiet, on loopback, without leftovers.

Spark's files go to a temporary directory. Its log is read only if it fails.
"""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from java_runtime.find_java import JavaUnavailableError
from spark_checks.file_systems import NotAStoreError
from spark_checks.progress import Progress, silent
from spark_checks.session.cluster_workers import start_workers
from spark_checks.session.daemon_process import early_daemon, end_process
from spark_checks.session.early_daemon import SOCKET_VARIABLE
from spark_checks.session.failures import JAVA_HAS_ENDED, SparkError, start_failure
from spark_checks.session.java_home import class_archive, prepare_java_home
from spark_checks.session.kernel_request import request_kernels, requests
from spark_checks.session.settings import (
    INTERPRETED_MAX,
    QUERIES_OF_FEW_ROWS,
    SOCKET_PATH_MAX,
    local_processors,
    spark_environment,
    spark_settings,
)
from spark_checks.session.surroundings import (
    environment_variables,
    output_to,
    own_directory,
    own_interrupt_handler,
)
from spark_checks.session.worker_archive import OWN
from spark_checks.session.worker_imports import keep_memory

END_S = 1
"""Seconds for a Java that has closed its connections to end."""
STOP_S = 120
"""Seconds for Java to end; the first session takes one to write its class archive."""


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

    With *size*, the bytes of the largest store, Python workers get kernels if that
    pays, and those of a cluster are started. Queries of small stores are interpreted.
    The workers of a cluster get the *packages* of the project.
    """
    with own_directory() as directory, ExitStack() as after_stop:
        log = directory / "spark.log"
        try:
            java_home = prepare_java_home(directory / "java")
            archive = class_archive(java_home)
            draft = after_stop.enter_context(archive.draft())
            surroundings = environment_variables(
                spark_environment(master, java_home, directory)
            )
            with surroundings, output_to(log), _killed_on_failure(log):
                if size is not None:
                    after_stop.enter_context(_early_daemon(master, directory, size))
                settings = spark_settings(master, directory, archive, draft, packages)
                if size is not None and size <= INTERPRETED_MAX:
                    settings = {**settings, **QUERIES_OF_FEW_ROWS}
                context = _start(master, settings)
                if size is not None:
                    keep_memory()
                    request_kernels(context, size)
                    # Local ones have imported meanwhile; the first task forks them.
                    if local_processors(master) is None:
                        progress("starting Python workers")
                        start_workers(context)
        except JavaUnavailableError as error:
            raise SparkError(str(error)) from None
        except OSError as error:
            raise SparkError(start_failure(error, log)) from error
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
def _early_daemon(master: str, directory: Path, size: int) -> Iterator[None]:
    """Run a daemon that imports while Java starts, if *master* is local."""
    processors = local_processors(master)
    path = directory / "daemon.sock"
    if processors is None or len(os.fsencode(path)) > SOCKET_PATH_MAX:
        yield
        return
    variables = environment_variables({SOCKET_VARIABLE: str(path)})
    with variables, early_daemon(path, requests(size, processors)):
        yield


def _start(master: str, settings: Mapping[str, str]) -> SparkContext:
    """Return a context with *settings*."""
    conf = SparkConf().setMaster(master).setAppName("rmqc audit")
    conf.setAll([*settings.items()])
    # Py4J logs interrupted calls; without a handler Python prints them.
    logging.getLogger().addHandler(logging.NullHandler())
    with own_interrupt_handler():
        context = SparkContext.getOrCreate(conf)
    context.setLogLevel("OFF")
    # Otherwise Java makes a JSON writer for names that only its pages show.
    context.setLocalProperty("spark.rdd.scope.noOverride", "true")
    # It prints a traceback for the connection of a Java that is killed.
    server: Any = context._accumulatorServer
    server.handle_error = lambda *_: None  # a call of Java fails as well
    return context


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
        reason = start_failure(error, log)  # now: Java may have the text
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

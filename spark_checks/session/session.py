"""
Spark sessions for audits: quiet, on loopback, without leftovers.

Spark's files go to a temporary directory. Its log is read only if it fails.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pyspark
from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from java_runtime.class_archive import ClassArchive, writing_options
from java_runtime.find_java import JavaUnavailableError
from spark_checks.file_systems import NotAStoreError
from spark_checks.progress import Progress, silent
from spark_checks.session.early_daemon import SOCKET_VARIABLE, early_daemon, end_process
from spark_checks.session.java_home import class_archive, prepare_java_home
from spark_checks.session.kernel_request import requests
from spark_checks.session.worker_archive import (
    ARCHIVE,
    OWN,
    ROOT,
    SHIPPED,
    zip_for_workers,
)
from spark_checks.session.workers import start_workers

_JAVA_OPTIONS = (
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=256m",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
)
"""Options for a Java that runs for seconds: compiling less beats faster code.

The default code cache would be small then. A session of many audits would fill it and
continue interpreted.
"""
STOP_S = 120
"""Seconds for Java to end; the first session takes one to write its class archive."""
WORKERS_DAEMON = "spark_checks.session.workers"
"""Module that forks workers with all imports done."""
SOCKET_PATH_MAX = 103
"""Longest path of a local socket on any system, in bytes."""
SOCKET_NAME_SIZE = 43
"""Bytes that Spark appends to the directory: a UUID between ``/.`` and ``.sock``."""
_LOCAL_SOCKETS = {"spark.python.unix.domain.socket.enabled": "true"}
"""Over TCP each task loses 40 ms to delayed acknowledgements."""
INTERPRETED_MAX = 4 << 20
"""Largest store, in bytes, whose queries are interpreted."""
QUERIES_OF_FEW_ROWS = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
"""Settings that interpret queries. Compiling takes longer than few rows do. An audit
that runs each check takes 22 s of processor time, not 28 s."""
_NO_PYTHON = "no-python"
"""Command that does not exist. With the driver's Python, Spark first imports every
package named pyspark_*, to find data sources: a second of processor time."""
STORE_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "GOOGLE_APPLICATION_CREDENTIALS",  # a path, which each worker needs
    *("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"),
    "AZURE_STORAGE_CONNECTION_STRING",
)
"""Variables with which Arrow opens ``s3://``, ``gs://`` and ``abfs://`` URLs.

The last one is for ``az://``, which fsspec opens.
"""
_QUIET = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n
"""


class SparkError(Exception):
    """Spark did not start, or failed."""


FAILURES = (PySparkException, Py4JJavaError)
"""Errors of a failed Spark job."""


_local_master = re.compile(r"local(?:\[(\d+|\*)(?:,.*)?\])?")
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
def spark_session(
    master: str = "local[*]", *, has_sources: bool = True, size: int | None = None
) -> Iterator[SparkSession]:
    """Yield a session on *master*; see :func:`spark_context`.

    Registering the sources takes a second and two processes, and may be skipped.
    """
    with spark_context(master, size=size) as context:
        session = session_of(context)
        if has_sources:
            # Imported late: the driver needs these modules only from here on.
            from spark_checks.readers.register import register_sources

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
    master: str = "local[*]",
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
    with (
        tempfile.TemporaryDirectory(prefix="rmqc-audit-") as name,
        ExitStack() as after_stop,
    ):
        directory = Path(name)
        log = directory / "spark.log"
        try:
            java_home = prepare_java_home(directory / "java")
            archive = class_archive(java_home)
            draft = after_stop.enter_context(archive.draft())
            surroundings = _variables(_environment(master, java_home, directory))
            with surroundings, _stderr_to(log), _killed_on_failure():
                if size is not None:
                    after_stop.enter_context(_early_daemon(master, directory, size))
                settings = {
                    **_settings(master, directory, archive, draft, packages),
                    **(QUERIES_OF_FEW_ROWS if is_small(size) else {}),
                }
                context = _start(master, settings)
                if size is not None:
                    progress("starting Python workers")
                    start_workers(context, size)
        except JavaUnavailableError as error:
            raise SparkError(str(error)) from None
        except Exception as error:  # Py4J raises many types
            raise SparkError(_why(error, log)) from error
        try:
            yield context
        except BaseException:
            # Threads of Py4J that lose their Java print tracebacks.
            with redirect_stderr(StringIO()), suppress(Exception):
                _stop(context)
            raise
        _stop(context)


def is_small(size: int | None) -> bool:
    """Return whether queries of a store of *size* bytes are interpreted."""
    return size is not None and size <= INTERPRETED_MAX


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
    return context


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


def _settings(
    master: str,
    directory: Path,
    archive: ClassArchive,
    draft: Path | None,
    packages: Sequence[str],
) -> Mapping[str, str]:
    """Return Spark's settings for audits on *master*.

    Its Java writes the *draft* of the class archive at its end, if there is one.
    """
    is_local = master.startswith("local")
    executor_options = " ".join([*_JAVA_OPTIONS, *archive.options()])
    driver_options = executor_options
    if draft is not None:
        driver_options = " ".join([*_JAVA_OPTIONS, *writing_options(draft)])
    quiet = directory / "log4j2.properties"
    quiet.write_text(_QUIET, encoding="utf-8")
    log_option = f"-Dlog4j2.configurationFile={quiet}"
    loopback = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    return {
        **(loopback if is_on_loopback(master) else {}),
        **({} if is_local else _for_remote_workers(master, directory, packages)),
        # With them an executor starts in 2 s of processor time, not 8. An archive of
        # classes that it does not have is not missed.
        "spark.executor.extraJavaOptions": executor_options,
        "spark.python.daemon.module": WORKERS_DAEMON,
        "spark.driver.memory": "640m",
        "spark.driver.extraJavaOptions": f"{log_option} {driver_options}",
        "spark.local.dir": str(directory),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        # Arithmetic with a damaged number must not end the audit.
        "spark.sql.ansi.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": str(_shuffle_partitions(master)),
        # With few partitions, replanning costs more than it saves.
        "spark.sql.adaptive.enabled": str(not is_local).lower(),
        # Parquet writers buffer a block each, 128 MiB by default.
        "spark.hadoop.parquet.block.size": str(16 << 20),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.structuredLogging.enabled": "false",
        "spark.python.worker.reuse": "true",
        # Tables with another environment than tasks would need workers of their own.
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
        # Task results are sent directly, not stored for a later fetch.
        "spark.task.maxDirectResultSize": "16m",
        **(socket_settings(directory) if is_local else {}),
    }


def socket_settings(directory: Path) -> Mapping[str, str]:
    """Return the settings of local sockets in *directory*; none if it is too long."""
    if len(os.fsencode(directory)) + SOCKET_NAME_SIZE > SOCKET_PATH_MAX:
        return {}
    return {
        **_LOCAL_SOCKETS,
        "spark.python.unix.domain.socket.dir": str(directory),
    }


def _for_remote_workers(
    master: str, directory: Path, packages: Sequence[str]
) -> Mapping[str, str]:
    """Return the settings by which remote workers find the code, and open stores."""
    wanted = {name: os.environ.get(name) for name in STORE_VARIABLES}
    wanted["PYTHONPATH"] = SHIPPED  # in the executor's working directory
    environment = {
        f"spark.executorEnv.{name}": value for name, value in wanted.items() if value
    }
    archive = directory / ARCHIVE
    zip_for_workers(archive, packages)
    # YARN's temporary directories have too long names for sockets.
    sockets = _LOCAL_SOCKETS if master.startswith("spark://") else {}
    return {"spark.archives": f"{archive}#{SHIPPED}", **environment, **sockets}


def local_processors(master: str) -> int | None:
    """Return the number of tasks that a local *master* runs in parallel, or None.

    ``local[*]`` runs as many as there are processors.
    """
    found = _local_master.fullmatch(master)
    if found is None:
        return None
    number = found[1] or "1"
    return int(number) if number.isdecimal() else os.cpu_count() or 1


def is_on_loopback(master: str) -> bool:
    """Whether all processes of *master* are on this machine."""
    if master.startswith("local"):
        return True
    host = urlsplit(master).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shuffle_partitions(master: str) -> int:
    """Return the number of shuffle partitions."""
    return (os.cpu_count() or 2) if master.startswith("local") else 64


def _environment(master: str, java_home: Path, directory: Path) -> dict[str, str]:
    """Return the variables that Spark reads at its start."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    is_local = master.startswith("local")
    if not is_local:  # queries are planned here, by the workers' Python
        path.append(str(directory / ARCHIVE))
    workers = "" if is_local else os.environ.get("PYSPARK_PYTHON", "")
    wanted = {
        "JAVA_HOME": str(java_home),
        "PYSPARK_PYTHON": workers or sys.executable,
        "PYSPARK_DRIVER_PYTHON": _NO_PYTHON,
        # Otherwise Spark's script starts a Python to find it.
        "SPARK_HOME": os.environ.get("SPARK_HOME", str(Path(pyspark.__file__).parent)),
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONSAFEPATH": "1",  # a user's folder may have packages of our names
    }
    if is_on_loopback(master):
        wanted["SPARK_LOCAL_IP"] = "127.0.0.1"
    return wanted


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
def _stderr_to(log: Path) -> Iterator[None]:
    """Redirect the standard error of child processes to *log*."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextmanager
def _killed_on_failure() -> Iterator[None]:
    """Kill Spark's processes if its start fails or is interrupted.

    PySpark keeps its Java only after Java has reported its port. If the start is
    interrupted earlier, Java fails in its main thread while its other threads keep it
    alive.
    """
    before = set(psutil.Process().children(recursive=True))
    try:
        yield
    except BaseException:
        for process in set(psutil.Process().children(recursive=True)) - before:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        _forget_gateway()
        raise


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


def _why(error: Exception, log: Path) -> str:
    """Return the reason of Spark's failure in one line."""
    output = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    lines = [
        line for line in output.splitlines() if "rror" in line or "xception" in line
    ]
    found = lines[0] if lines else (str(error).splitlines() or [repr(error)])[0]
    return f"Spark did not start: {found.strip()}"

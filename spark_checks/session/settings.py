"""
Spark's settings and environment for audits on a master.

A local session is made for seconds: Java starts fast, small queries are interpreted,
and all traffic stays on loopback.
"""

from __future__ import annotations

import ipaddress
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pyspark

from java_runtime.class_archive import ClassArchive, writing_options
from spark_checks.session.worker_archive import ARCHIVE, ROOT, SHIPPED, zip_for_workers

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
_SMALL_EDEN = "-Xmn48m"
"""Option of executors: to touch new memory takes longer than to collect old objects.

By default an executor takes 100 MiB of new memory before it collects once.
"""
OWN_SPARK = str(Path(pyspark.__file__).parent)
"""Spark of the package pyspark that is imported."""
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
_local_master = re.compile(r"local(?:\[(\d+|\*)(?:,.*)?\])?")


def spark_settings(
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
    driver_options = [*_JAVA_OPTIONS, *archive.options()]
    executor_options = [*driver_options, _SMALL_EDEN]
    if draft is not None:
        driver_options = [*_JAVA_OPTIONS, *writing_options(draft)]
    quiet = directory / "log4j2.properties"
    quiet.write_text(_QUIET, encoding="utf-8")
    own_options = (
        f"-Dlog4j2.configurationFile={quiet.as_uri()}",
        # Java ignores TMPDIR, and leaves libraries and folders there if it is killed.
        f"-Djava.io.tmpdir={directory}",
        f"-XX:ErrorFile={directory}/error.log",  # else in the current directory
    )
    loopback = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    return {
        **(loopback if is_on_loopback(master) else {}),
        **({} if is_local else _for_remote_workers(master, directory, packages)),
        # With them an executor starts in 2 s of processor time, not 8. An archive of
        # classes that it does not have is not missed.
        "spark.executor.extraJavaOptions": shlex.join(executor_options),
        "spark.python.daemon.module": WORKERS_DAEMON,
        "spark.driver.memory": "640m",
        "spark.driver.extraJavaOptions": shlex.join([*own_options, *driver_options]),
        "spark.local.dir": str(directory),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        # Arithmetic with a damaged number must not end the audit.
        "spark.sql.ansi.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 2) if is_local else "64",
        # With few partitions, replanning costs more than it saves.
        "spark.sql.adaptive.enabled": str(not is_local).lower(),
        # Parquet writers buffer a block each, 128 MiB by default.
        "spark.hadoop.parquet.block.size": str(16 << 20),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.structuredLogging.enabled": "false",
        "spark.python.worker.reuse": "true",
        # Here tasks have a few kilobytes. The library that compresses loads in 50 ms.
        "spark.broadcast.compress": str(not is_local).lower(),
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


def spark_environment(master: str, java_home: Path, directory: Path) -> dict[str, str]:
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
        "SPARK_HOME": os.environ.get("SPARK_HOME", OWN_SPARK),
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONSAFEPATH": "1",  # a user's folder may have packages of our names
    }
    if is_on_loopback(master):
        wanted["SPARK_LOCAL_IP"] = "127.0.0.1"
    return {**wanted, **(_without_other_spark(directory) if is_local else {})}


def _without_other_spark(directory: Path) -> Mapping[str, str]:
    """Return the variables against those of another Spark on this machine.

    Its release, configuration and arguments are for its own programs. A cluster's
    driver needs them.
    """
    return {
        "SPARK_HOME": OWN_SPARK,
        # Missing or empty, as it is in the path of the archived classes.
        "SPARK_CONF_DIR": str(Path(OWN_SPARK, "conf")),
        "SPARK_LOCAL_DIRS": str(directory),
        "PYSPARK_SUBMIT_ARGS": "pyspark-shell",
    }

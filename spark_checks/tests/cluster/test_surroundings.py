"""
An audit depends on no other Spark of the machine, and on no special directory.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from java_runtime.class_archive import ClassArchive
from rocketmq_conformance.paths import module_command
from spark_checks.session import session
from spark_checks.session.daemon_process import end_process
from spark_checks.session.failures import SparkError, start_failure
from spark_checks.session.settings import spark_environment, spark_settings
from spark_checks.session.surroundings import output_to

ROOT = Path(__file__).resolve().parents[3]
STORE = ROOT / "fixtures" / "store" / "4.6.0-stopped"
OTHER_SPARK = {
    "SPARK_HOME": "/nowhere/spark",
    "SPARK_CONF_DIR": "/nowhere/conf",
    "SPARK_LOCAL_DIRS": "/proc/none",
    "PYSPARK_SUBMIT_ARGS": "--version",  # with which PySpark waits for ever
}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a directory with characters that Java's options have to quote."""
    directory = tmp_path / "a 'b\" \\c"
    directory.mkdir()
    return directory


def _audit(variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        module_command("cli", "audit", STORE),
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_another_spark_and_names_with_spaces_do_not_matter(hostile: Path) -> None:
    run = _audit({**OTHER_SPARK, "TMPDIR": str(hostile)})
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith(f"{STORE}\n")
    assert list(hostile.iterdir()) == []


def test_a_cluster_keeps_its_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in OTHER_SPARK.items():
        monkeypatch.setenv(name, value)
    wanted = spark_environment("spark://host:7077", tmp_path, tmp_path)
    changed = {name: wanted.get(name, value) for name, value in OTHER_SPARK.items()}
    assert changed == OTHER_SPARK


def test_java_puts_its_files_into_the_directory_of_the_audit(hostile: Path) -> None:
    archive = ClassArchive(file=hostile / "none.jsa")
    settings = spark_settings("local[1]", hostile, archive, None, ())
    quoted = re.escape(str(hostile).replace("'", "'\"'\"'"))
    options = settings["spark.driver.extraJavaOptions"]
    assert re.search(f"'-Djava.io.tmpdir={quoted}' '-XX:ErrorFile={quoted}/", options)


def test_output_of_java_does_not_join_the_report(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.write(1, b"before\n")
    with output_to(tmp_path / "log"):
        subprocess.run([sys.executable, "-c", "print('noise')"], check=True)
    os.write(1, b"after\n")
    assert (tmp_path / "log").read_text(encoding="utf-8") == "noise\n"
    assert capfd.readouterr().out == "before\nafter\n"


def test_a_full_disk_ends_the_start_with_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(path: Path, _data: bytes) -> int:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    line = r"^Spark did not start: \S+ cannot be written: No space left on device$"
    with (
        pytest.raises(SparkError, match=line),
        session.spark_context("local[1]"),
    ):
        pytest.fail("Spark has started")


def test_a_machine_without_a_temporary_directory_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", missing)
    line = "^Spark did not start: No usable temporary directory found$"
    with (
        pytest.raises(SparkError, match=line),
        session.spark_context("local[1]"),
    ):
        pytest.fail("Spark has started")


class ErrorInJava(Exception):
    """Error whose text Java has, as that of Py4J."""

    def __init__(self, java: subprocess.Popen[bytes]) -> None:
        self._java = java

    def __str__(self) -> str:
        assert self._java.poll() is None
        return "the master is away"


def test_the_reason_of_a_failed_start_is_read_before_java_is_killed(
    tmp_path: Path,
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        with session._killed_on_failure(tmp_path / "log"):
            words = [sys.executable, "-c", "input()"]
            started.append(subprocess.Popen(words, stdin=subprocess.PIPE))
            raise ErrorInJava(started[0])

    with pytest.raises(SparkError) as error:
        start()
    with started[0] as java:
        assert java.poll() is not None
    assert str(error.value) == "Spark did not start: the master is away"


def test_an_interrupt_ends_a_java_that_still_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object, **__: object) -> int:
        monkeypatch.undo()
        raise KeyboardInterrupt

    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as java:
        monkeypatch.setattr(java, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            end_process(java, 60)
        ended = java.poll()
        java.kill()
    assert ended is not None


@pytest.mark.parametrize(
    ("limit", "line", "cause"),
    [
        (
            256,
            "Error: NoClassDefFoundError",
            "256 open files (ulimit -n) are too few: ",
        ),
        (256, "Error: Master must be local", ""),
        (1024, "Error: NoClassDefFoundError", ""),
    ],
)
def test_a_low_limit_of_open_files_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, line: str, cause: str
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, limit))
    (tmp_path / "log").write_text(f"{line}\n", encoding="utf-8")
    found = start_failure(OSError(), tmp_path / "log")
    assert found == f"Spark did not start: {cause}{line}"

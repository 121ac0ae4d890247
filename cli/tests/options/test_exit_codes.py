"""Errors of usage are two lines, and Ctrl-C is one, also before a command is loaded."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from conformance.harness.targets.started.embedded import SOURCES
from rocketmq_conformance.__main__ import main as program
from rocketmq_conformance.paths import module_command

COMMAND = module_command("cli", "spec", "list")
"""A command whose output is longer than the buffer of a pipe."""

INTERRUPTED_TWICE = """
import importlib, signal, time
from rocketmq_conformance.__main__ import CLEANUP_S, main

class Command:
    def main(**_):
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
            print("cleaned up", end="")
            later_s = time.monotonic() + CLEANUP_S
            time.monotonic = lambda: later_s
            try:
                signal.raise_signal(signal.SIGHUP)
            except KeyboardInterrupt:
                print(", interrupted again")

importlib.import_module = lambda _name: Command
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
main()
"""


@pytest.mark.parametrize(
    ("words", "reason", "command"),
    [
        (["--nosuch"], "No such option '--nosuch'.", "rmqc"),
        (["recover", "nowhere"], "Invalid value for 'STORE'", "rmqc recover"),
        (["spec", "headers", "PULL_MESAGE"], "PULL_MESSAGE", "rmqc spec headers"),
        (["serve", "--fault", "bussy"], "--fault: 'bussy'", "rmqc serve"),
    ],
)
def test_an_error_of_usage_is_two_lines(
    words: list[str], reason: str, command: str
) -> None:
    ended = CliRunner().invoke(main, words, prog_name="rmqc")
    first, second = ended.stderr.splitlines()
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert first.startswith("Error: ")
    assert reason in first
    assert second == f"Try '{command} --help' for help."


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["admin", "clusterList", "-n", "127.0.0.1:1"], 3),
        (["generate", "/proc/x", "--size", "1M"], 2),
        (["audit", "/proc"], 2),
        (["target", "probe", "127.0.0.1:1"], 3),
        (["test", "--target", "127.0.0.1:1", "--against", "127.0.0.1:1"], 3),
    ],
)
def test_the_reason_of_a_failed_command_is_one_line(
    words: list[str], code: int
) -> None:
    ended = CliRunner().invoke(main, words, prog_name="rmqc")
    assert (ended.exit_code, ended.stdout) == (code, "")
    assert ended.stderr.startswith("Error: ")
    assert ended.stderr.count("\n") == 1


def test_a_closed_pipe_ends_a_command_without_a_line() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(COMMAND, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_closed_output_is_discarded() -> None:
    closed = ("sh", "-c", 'exec "$@" >&-', "sh")
    done = subprocess.run([*closed, *COMMAND], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_beyond_the_limit_of_a_file_is_one_line(
    tmp_path: Path, unbuffered: str
) -> None:
    limited = ("/bin/sh", "-c", 'ulimit -f 8 && exec "$@"', "sh")
    command = module_command("cli", "spec", "export", "--format", "json")
    with (tmp_path / "out").open("wb") as out:
        done = subprocess.run(
            [*limited, *command],
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
    reason = b"Error: the output cannot be written: File too large\n"
    assert (done.returncode, done.stderr) == (2, reason)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_end_of_the_session_ends_a_command_like_ctrl_c(number: int) -> None:
    # nohup may ignore SIGHUP for the tests.
    started = ["env", "--default-signal=HUP"]
    command = [*started, *module_command("cli", "consume", "T", "-n", "127.0.0.1:1")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert "trying again" in process.stderr.readline()
            process.send_signal(number)
            assert process.communicate(timeout=30)[1] == ""
        finally:
            process.kill()
    assert process.returncode == 0


def test_a_second_interrupt_does_not_interrupt_the_cleanup() -> None:
    command = [sys.executable, "-c", INTERRUPTED_TWICE]
    ended = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (130, "cleaned up, interrupted again\n")
    assert ended.stderr == "Error: interrupted\n"


def test_an_interrupt_keeps_no_frame_until_the_exit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[weakref.ref[set[int]]] = []

    class Local(set[int]):
        """A value that a frame holds, as a memory view of a mapped file."""

    def interrupted(*_: object) -> None:
        local = Local()
        found.append(weakref.ref(local))
        raise KeyboardInterrupt

    command = importlib.import_module("cli.commands.suites.spec")
    monkeypatch.setattr(command, "listed", interrupted)
    ended = CliRunner().invoke(main, ["spec", "list"])
    assert (ended.exit_code, ended.output) == (130, "Error: interrupted\n")
    assert ended.exc_info is not None  # it has the traceback
    assert found[0]() is None


def test_too_little_memory_is_one_line_and_no_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    command = importlib.import_module("cli.commands.suites.spec")
    monkeypatch.setattr(command, "listed", exhausted)
    ended = CliRunner().invoke(main, ["spec", "list"])
    assert (ended.exit_code, ended.output) == (3, "Error: not enough memory\n")


def test_a_group_without_a_command_prints_its_help() -> None:
    ended = CliRunner().invoke(main, ["spec"], prog_name="rmqc")
    assert ended.output.startswith("Usage: rmqc spec [OPTIONS] COMMAND [ARGS]...")


def test_ctrl_c_ends_the_program_while_it_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib, "import_module", interrupted)
    with pytest.raises(SystemExit) as ended:
        program()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "Error: interrupted\n"


def test_an_unexpected_error_is_one_line_and_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_name: str) -> None:
        raise KeyError("one\ntwo")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(SystemExit) as ended:
        program()
    (file,) = tmp_path.iterdir()
    reason = "rmqc failed with KeyError: \"'one\\\\ntwo'\""
    assert ended.value.code == 3
    assert capsys.readouterr().err == f"Error: {reason}; its traceback is in {file}\n"
    assert file.read_text(encoding="utf-8").startswith("Traceback (most recent call")


def test_the_traceback_of_an_unexpected_error_is_printed_where_no_file_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_name: str) -> None:
        raise RuntimeError("x" * 1000)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(SystemExit) as ended:
        program()
    first, second, *_ = capsys.readouterr().err.splitlines()
    assert ended.value.code == 3
    assert first == f"Error: rmqc failed with RuntimeError: '{'x' * 200}'"
    assert second == "Traceback (most recent call last):"

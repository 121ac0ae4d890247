"""``rmqc produce`` and ``rmqc consume`` without a broker: input and warnings."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

from cli.options.input_lines import input_lines
from rocketmq_conformance.paths import module_command

LINE_TIMEOUT_S = 30.0


@pytest.fixture
def nowhere() -> Iterator[str]:
    """Yield an address without a listener, whose port stays in use."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


@contextmanager
def rmqc(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command; kill it at the end, or after `LINE_TIMEOUT_S`."""
    pipe = subprocess.PIPE
    command = module_command("cli", *arguments)
    with subprocess.Popen(command, text=True, stdin=pipe, stderr=pipe) as process:
        killer = Timer(LINE_TIMEOUT_S, process.kill)
        killer.start()
        try:
            yield process
        finally:
            killer.cancel()
            process.kill()


@pytest.mark.parametrize("mode", ["sync", "async", "oneway"])
def test_a_line_of_input_is_sent_before_the_input_ends(nowhere: str, mode: str) -> None:
    words = ("produce", "-n", nowhere, "--mode", mode, "--retries", "0", "T")
    with rmqc(*words) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        for _ in range(2):
            process.stdin.write("a body\n")
            process.stdin.flush()
            assert process.stderr.readline().startswith("not sent: ")
        process.stdin.close()
        assert process.wait(LINE_TIMEOUT_S) == 1


def test_a_producer_without_a_name_server_names_it_and_the_cause(nowhere: str) -> None:
    with rmqc("produce", "-n", nowhere, "T", "a body") as process:
        _, errors = process.communicate()
        assert process.returncode == 1
    reason = f"no response from a name server: {nowhere}: the connection could not be"
    assert errors == f"not sent: {reason} made\n"


def test_lines_may_have_any_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"caf\xc3\xa9\n\xff\nlast")
    with file.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        lines = asyncio.run(collected(input_lines()))
    found = [line.encode("utf-8", "surrogateescape") for line in lines]
    assert found == [b"caf\xc3\xa9", b"\xff", b"last"]


async def collected(lines: AsyncIterator[str]) -> list[str]:
    return [line async for line in lines]


def test_a_consumer_without_a_name_server_prints_one_warning(nowhere: str) -> None:
    with rmqc("consume", "-n", nowhere, "--idle-s", "0.2", "T") as process:
        _, warnings = process.communicate()
        assert process.returncode == 0
    assert (
        warnings
        == f"no connection to the name server {nowhere}; trying again every 30 s\n"
    )


def test_a_consumer_in_the_background_of_a_script_ends_by_ctrl_c(nowhere: str) -> None:
    words = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    command = [*words, *module_command("cli", "consume", "-n", nowhere, "T")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, stderr=pipe) as process:
        killer = Timer(LINE_TIMEOUT_S, process.kill)
        killer.start()
        assert process.stderr is not None
        process.stderr.readline()  # the warning: it is running
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        killer.cancel()


def test_the_name_server_has_the_spelling_of_mqadmin_and_a_short_one(
    nowhere: str,
) -> None:
    for option in ("-n", "--namesrvAddr", "--namesrv"):
        with rmqc("produce", option, nowhere, "--retries", "0", "T", "B") as process:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("not sent: ")

"""``rmqc serve`` on a damaged store warns of the bytes that recovery removes."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from conformance.harness.process.ports import free_port_block
from rocketmq_conformance.paths import module_command

STORE = Path(__file__).parents[4] / "fixtures" / "store" / "4.6.0-killed"
LAST_FILE = "commitlog/00000000000000065536"
SETTINGS = "mapedFileSizeCommitLog=65536\nmapedFileSizeConsumeQueue=400\n"
TIMEOUT_S = 30


@dataclass
class Server:
    """A server of ``rmqc serve``."""

    ready: str
    """Its first line."""
    errors: str = ""
    """Its standard error, after its end."""


@contextmanager
def served(*words: str) -> Iterator[Server]:
    """Serve with *words*: yield the server when it is ready, then stop it."""
    pipe = subprocess.PIPE
    command = module_command("cli", "serve", *words)
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            server = Server(process.stdout.readline())
            yield server
            process.send_signal(signal.SIGTERM)
            _, server.errors = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()


def warnings_of(store: Path, settings: Path) -> str:
    """Serve *store* until it is ready, and return its standard error."""
    ports = free_port_block()
    words = ["--store", str(store), "-c", str(settings)]
    words += ["--namesrv-port", str(ports.name_server)]
    words += ["--broker-port", str(ports.broker)]
    try:
        with served(*words) as server:
            pass
    finally:
        ports.release()
    places = {
        "namesrv": ports.name_server,
        "broker": ports.broker,
        "vip": ports.broker - 2,
        "ha": ports.broker + 1,
    }
    opened = " ".join(f"{name}=127.0.0.1:{port}" for name, port in places.items())
    assert server.ready == f"ready {opened} store={store}\n", server.errors
    return server.errors


def test_a_damaged_store_is_served_with_one_warning(tmp_path: Path) -> None:
    store = shutil.copytree(STORE, tmp_path / "store")
    settings = tmp_path / "broker.conf"
    settings.write_text(SETTINGS, encoding="utf-8")
    with (store / LAST_FILE).open("r+b") as file:
        file.seek(20_000)
        file.write(b"\xff" * 8)
    words = ["recover", str(store), "--release", "4.6"]
    foretold = CliRunner().invoke(main, words).output
    assert "It cuts 14,763 bytes off the commit log." in foretold
    warning = warnings_of(store, settings)
    assert warning.count("\n") == 1
    assert "truncated the commit log" in warning
    assert " removed 14,763 bytes " in warning
    assert warnings_of(store, settings) == ""


def test_port_0_is_a_free_port_that_the_first_line_names(tmp_path: Path) -> None:
    words = ["--namesrv-port", "0", "--broker-port", "0", "--fault", "none"]
    with served(*words, "--store", str(tmp_path / "store")) as server:
        fields = dict(word.split("=", 1) for word in server.ready.split()[1:])
        config = CliRunner().invoke(
            main, ["admin", "getBrokerConfig", "-b", fields["broker"]]
        )
    ports = {name: text.rpartition(":")[2] for name, text in fields.items()}
    broker = int(ports["broker"])
    assert ports["vip"] == str(broker - 2)
    assert ports["ha"] == str(broker + 1)
    assert int(ports["namesrv"]) > 0
    assert fields["faults"] == "none"
    settings = dict(line.split("=", 1) for line in config.output.splitlines()[1:])
    found = {name.strip(): value.strip() for name, value in settings.items()}
    assert found["listenPort"] == str(broker)
    assert found["faults"] == "none"


@pytest.mark.parametrize("only", [[], ["--only", "namesrv"]])
@pytest.mark.parametrize(
    ("start", "code"),
    [("exec env --default-signal=HUP", 0), ("trap '' HUP; exec", -9)],
)
def test_the_end_of_the_terminal_stops_a_server_unless_nohup_ignores_it(
    tmp_path: Path, only: list[str], start: str, code: int
) -> None:
    words = ["serve", "--namesrv-port", "0", "--broker-port", "0", *only]
    command = module_command("cli", *words, "--store", str(tmp_path / "store"))
    shell = ("/bin/sh", "-c", f'{start} "$@"', "sh")
    with subprocess.Popen([*shell, *command], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(b"ready")
            process.send_signal(signal.SIGHUP)
            if code == 0:
                process.wait(timeout=TIMEOUT_S)
        finally:
            process.kill()
    assert process.returncode == code
    assert (tmp_path / "store" / "abort").exists() is (code != 0 and not only)

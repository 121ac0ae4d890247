"""``rmqc target``: the template is printed as it stands, a peer is probed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.commands.suites.target import TEMPLATE
from cli.main import main
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.targets.probing.probe import WRONG_OPAQUES
from conformance.harness.targets.started.target_file import read_target_file
from conformance.meta.peers.lying_cluster import (
    boastful,
    cluster_with_codes,
    empty,
    modest,
)
from rocketmq_conformance.paths import module_command
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def test_the_template_is_printed_and_can_be_read(tmp_path: Path) -> None:
    printed = CliRunner().invoke(main, ["target", "template"])
    assert printed.exit_code == 0
    assert printed.output == TEMPLATE.read_text(encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text(printed.output, encoding="utf-8")
    assert read_target_file(own).release == "4.6.0"


def test_the_command_says_what_it_found() -> None:
    with cluster_with_codes(modest, version=407) as server:
        printed = CliRunner().invoke(main, ["target", "probe", str(server.address)])
    assert printed.exit_code == 0, printed.output
    assert "profile       4.9.7" in printed.output
    assert "refuses       QUERY_CONSUME_QUEUE" in printed.output
    with cluster_with_codes(boastful) as server:
        printed = CliRunner().invoke(main, ["target", "probe", str(server.address)])
    assert printed.exit_code == 1
    assert "not honest" in printed.output
    assert "\nso            its refusals do not count" in printed.output


def test_a_cache_of_jars_that_cannot_be_written_is_one_line() -> None:
    command = module_command("cli", "target", "probe", "jvm:4.6.0")
    done = subprocess.run(
        command,
        env={**os.environ, "XDG_CACHE_HOME": os.devnull},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1


def test_a_peer_with_wrong_opaques_is_a_finding() -> None:
    with LyingServer(lambda asked: honest(asked, opaque=asked.opaque + 1000)) as server:
        printed = CliRunner().invoke(main, ["target", "probe", str(server.address)])
    assert printed.exit_code == 1
    assert f"not honest    the name server {WRONG_OPAQUES}\n" in printed.output


def test_of_a_peer_that_does_not_respond_nothing_is_known() -> None:
    with cluster_with_codes(mute) as server:
        address = str(server.address)
        printed = CliRunner().invoke(main, ["target", "probe", address])
    assert printed.exit_code == 3, printed.output
    assert "resembles     no release: no response to GET_MAX_OFFSET" in printed.output
    assert "\nheader" not in printed.output
    command = f"rmqc test --target {address} --only WIRE-FRAME-001 -v"
    assert printed.output.splitlines()[-1] == f"next          {command}"


def test_a_name_server_without_a_broker_is_named_as_such() -> None:
    with LyingServer(empty) as server:
        printed = CliRunner().invoke(main, ["target", "probe", str(server.address)])
    assert printed.exit_code == 0, printed.output
    assert (
        f"\nbroker        none is registered with {server.address};" in printed.output
    )
    assert "\nresembles     4.6.0\n" in printed.output


def test_lines_fit_into_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with cluster_with_codes(ignorant) as server:
        printed = CliRunner().invoke(main, ["target", "probe", str(server.address)])
    assert "refuses       PULL_MESSAGE, " in printed.output
    assert max(map(len, printed.output.splitlines())) <= 80


def ignorant(request: Command) -> int:
    """Refuse all requests but that for the addresses of the brokers."""
    is_first = request.code == RequestCode.GET_BROKER_CLUSTER_INFO
    refused = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    return ResponseCode.SUCCESS if is_first else refused


def mute(request: Command) -> int | None:
    """Respond to the first request only, for the addresses of the brokers."""
    is_first = request.code == RequestCode.GET_BROKER_CLUSTER_INFO
    return ResponseCode.SUCCESS if is_first else None

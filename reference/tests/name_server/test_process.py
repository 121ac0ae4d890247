"""A name server in a process of its own: settings file, warnings, persistence."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reference.core.name_server.config import NameServerConfig
from reference.core.settings import SettingError
from reference.shell.name_server import main
from reference.tests.local_process import ROOT, TIMEOUT_S, invoke
from rocketmq_conformance.paths import module_command
from spec.wire.remoting.request_code import RequestCode

PROGRAM = module_command("reference.shell.name_server")


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextmanager
def running(*words: str) -> Iterator[int]:
    """Run a name server; yield its port; stop it in good order."""
    port = free_port()
    with subprocess.Popen(
        [*PROGRAM, "--port", str(port), *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(
                f"ready namesrv=127.0.0.1:{port}"
            )
            yield port
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIMEOUT_S) == 0
        finally:
            process.kill()


def test_key_values_and_settings_outlive_it(tmp_path: Path) -> None:
    config = tmp_path / "namesrv.properties"
    config.write_text("orderMessageEnable=true\nownWord=7\n", encoding="utf-8")
    words = ["--home", str(tmp_path / "home"), "-c", str(config)]
    with running(*words) as port:
        assert b"orderMessageEnable=true\n" in settings_at(port)
        assert b"ownWord=7\n" in settings_at(port)
        invoke(port, RequestCode.PUT_KV_CONFIG, namespace="here", key="k", value="v")
        invoke(port, RequestCode.UPDATE_NAMESRV_CONFIG, b"orderMessageEnable=false\n")
    with running(*words) as port:
        assert b"orderMessageEnable=false\n" in settings_at(port)
        response = invoke(port, RequestCode.GET_KV_CONFIG, namespace="here", key="k")
        assert response.fields["value"] == "v"


def settings_at(port: int) -> bytes:
    """Return the settings of the name server at *port*."""
    return invoke(port, RequestCode.GET_NAMESRV_CONFIG).body


def test_settings_can_be_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "namesrv.properties"
    config.write_text("listenPort=1234\nserverWorkerThreads=4\nodd=1\n")
    assert main(["-c", str(config), "-p"]) == 0
    printed, warnings = capsys.readouterr()
    assert "listenPort=1234\n" in printed
    assert f"configStorePath={config}\n" in printed
    assert warnings.splitlines() == [
        f"{config}: odd is not a setting of a 4.6.0 name server",
        f"{config}: serverWorkerThreads has no effect here",
    ]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("clusterTest=true", "clusterTest=true forwards requests to other name"),
        ("listenPort=many", "listenPort is 'many', which is not a number"),
    ],
)
def test_it_does_not_start_with_a_setting_it_cannot_apply(
    line: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "namesrv.properties"
    config.write_text(line)
    assert main(["-c", str(config)]) == 2
    assert capsys.readouterr().err.startswith(f"cannot serve: {error}")


def test_a_missing_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-c", "/no/such/file"]) == 2
    assert "/no/such/file" in capsys.readouterr().err


def test_applied_settings_cause_no_warning() -> None:
    applied = {"listenPort": "1", "orderMessageEnable": "true"}
    assert NameServerConfig.warnings(applied) == []
    with pytest.raises(SettingError):
        NameServerConfig({"clusterTest": "TRUE"})

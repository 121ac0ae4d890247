"""kvConfig.json: the content a name server starts on, and writes the disk refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.core.name_server.kv_config import Namespaces, decode_kv_config
from reference.core.remoting.effects import LogError
from reference.core.settings import read_properties
from reference.core.store.mapped.files import FilesError
from reference.shell.name_server import main, name_server_config, new_name_server
from reference.tests.name_server.servers import name_server
from spec.host import Host
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

CLIENT = 1
READABLE: dict[str, Namespaces] = {
    "": {},
    " \n": {},
    "null": {},
    "[]": {},
    '{"configTable":{}}': {},
    '{"configTable":{"a":null,"b":{"k":"v"}}}': {"b": {"k": "v"}},
    '{"configTable":{"a":{"k":7,"n":null,"t":true}}}': {
        "a": {"k": "7", "n": None, "t": "true"}
    },
    '{"configTable":{"a":{"k":[1],"m":{"x":1}}}}': {"a": {"k": "[1]", "m": '{"x":1}'}},
}
UNREADABLE = [
    "{}",
    '{"configTable":null}',
    '{"configTable":[1,2]}',
    '{"configTable":{"a":"b"}}',
    '{"configTable":{"a":[1]}}',
    '{"configTable":{"a"',
    "[1]",
    "7",
    '"text"',
    "\0\0",
    "[" * 10_000,
]
"""A 4.6.0 name server ends on each of these with 255 and does not read a .bak."""


@pytest.mark.parametrize("text", READABLE)
def test_content_is_read_as_by_4_6_0(text: str) -> None:
    assert decode_kv_config(text) == READABLE[text]


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_unreadable_content_is_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kvConfig.json"
    path.write_text(text)
    (tmp_path / "kvConfig.json.bak").write_text('{"configTable":{}}')
    assert main(["--home", str(tmp_path), "--port", "9876"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"cannot serve: {path} is broken (")
    assert line.endswith("); no .bak is read")
    assert path.read_text() == text


@pytest.mark.parametrize("size", range(1, 40))
def test_a_truncated_file_is_one_error(size: int, tmp_path: Path) -> None:
    (tmp_path / "kvConfig.json").write_text(
        '{"configTable":{"name":{"key":"value"}}}'[:size]
    )
    with pytest.raises(FilesError, match=r"kvConfig\.json is broken"):
        new_name_server(name_server_config(tmp_path))


class FullDisk:
    """A name server whose disk can refuse writes."""

    def __init__(self) -> None:
        self.is_full = True
        self.written: list[str] = []
        self.server = name_server(replace_text=self.write)
        self.server.connection_made(CLIENT, Host.of("127.0.0.1", 1))
        self.server.start(0)
        self.lines: list[str] = []

    def write(self, _path: str, text: str) -> None:
        """Write the content of a table."""
        if self.is_full:
            raise FilesError("cannot write x: no space left on the disk")
        self.written.append(text)

    def wait_until(self, now_ms: int) -> None:
        """Let the time be *now_ms*."""
        for effect in self.server.timer_expired(now_ms):
            if isinstance(effect, LogError):
                self.lines.append(effect.text)

    def invoke(self, code: int, body: bytes = b"", **fields: str) -> Command:
        """Return the response to a request."""
        frame = encode_command(Command(code=code, opaque=1, body=body, fields=fields))
        effects = self.server.data_received(CLIENT, frame, 0)
        self.lines += [one.text for one in effects if isinstance(one, LogError)]
        (data,) = [one.data for one in effects if hasattr(one, "data")]
        return decode_command(bytes(data))


def test_a_refused_write_is_logged_once_and_retried() -> None:
    disk = FullDisk()
    for _ in range(3):
        response = disk.invoke(
            RequestCode.PUT_KV_CONFIG, namespace="n", key="k", value="v"
        )
        assert response.code == ResponseCode.SUCCESS
    for now_ms in range(0, 60_000, 500):
        disk.wait_until(now_ms)
    assert disk.lines == [
        "not persisted, to be retried: cannot write x: no space left on the disk"
    ]
    disk.is_full = False
    disk.wait_until(62_000)
    assert disk.written == ['{"configTable":{"n":{"k":"v"}}}']
    disk.wait_until(70_000)
    assert len(disk.written) == 1


def test_settings_that_the_disk_refuses_are_served_and_retried() -> None:
    disk = FullDisk()
    body = b"orderMessageEnable=true\n"
    response = disk.invoke(RequestCode.UPDATE_NAMESRV_CONFIG, body)
    assert response.code == ResponseCode.SUCCESS
    assert disk.server.config.order_message_enable
    disk.is_full = False
    disk.wait_until(1_000)
    (text,) = disk.written
    assert read_properties(text)["orderMessageEnable"] == "true"
    assert len(disk.lines) == 1

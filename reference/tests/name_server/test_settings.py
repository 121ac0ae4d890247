"""A name server's settings: read, changed and persisted."""

from __future__ import annotations

from reference.core.name_server.server import NameServer
from reference.core.remoting.effects import Send
from reference.core.settings import read_properties
from reference.tests.name_server.servers import name_server
from spec.host import Host
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import RequestCode

CLIENT = Host.of("127.0.0.1", 40000)


def invoke(server: NameServer, code: int, body: bytes = b"") -> Command:
    """Return the response of *server*."""
    request = encode_command(Command(code=code, opaque=1, body=body))
    (effect,) = server.data_received(1, request, 0)
    assert isinstance(effect, Send)
    return decode_command(effect.data)


def settings_of(server: NameServer) -> dict[str, str]:
    """Return the settings that *server* returns."""
    response = invoke(server, RequestCode.GET_NAMESRV_CONFIG)
    return read_properties(response.body.decode())


def test_given_settings_replace_defaults() -> None:
    server = name_server(settings={"listenPort": "1234", "rocketmqHome": "/here"})
    server.connection_made(1, CLIENT)
    settings = settings_of(server)
    assert settings["listenPort"] == "1234"
    assert settings["rocketmqHome"] == "/here"
    assert settings["productEnvName"] == "center"


def test_a_known_setting_is_changed_and_all_are_persisted() -> None:
    persisted: list[tuple[str, str]] = []
    server = name_server(
        settings={"configStorePath": "/here"},
        replace_text=lambda *file: persisted.append(file),
    )
    server.connection_made(1, CLIENT)
    change = b"productEnvName=elsewhere\nnoSuchSetting=1\n"
    invoke(server, RequestCode.UPDATE_NAMESRV_CONFIG, change)
    settings = settings_of(server)
    assert settings["productEnvName"] == "elsewhere"
    assert "noSuchSetting" not in settings
    ((path, text),) = persisted
    assert path == "/here"
    assert read_properties(text) == settings

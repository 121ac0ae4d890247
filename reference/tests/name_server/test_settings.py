"""A name server's settings: read, changed and persisted."""

from __future__ import annotations

from collections.abc import Mapping

from reference.core.name_server.config import NameServerConfig
from reference.core.name_server.server import NameServer
from reference.core.remoting.effects import Send
from reference.core.settings import read_properties
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
    server = NameServer(
        config=NameServerConfig({"listenPort": "1234", "rocketmqHome": "/here"})
    )
    server.connection_made(1, CLIENT)
    settings = settings_of(server)
    assert settings["listenPort"] == "1234"
    assert settings["rocketmqHome"] == "/here"
    assert settings["productEnvName"] == "center"


def test_a_known_setting_is_changed_and_all_are_persisted() -> None:
    persisted: list[dict[str, str]] = []

    def persist(changed: Mapping[str, str]) -> None:
        persisted.append(dict(changed))

    server = NameServer(config=NameServerConfig(persist=persist))
    server.connection_made(1, CLIENT)
    change = b"productEnvName=elsewhere\nnoSuchSetting=1\n"
    invoke(server, RequestCode.UPDATE_NAMESRV_CONFIG, change)
    settings = settings_of(server)
    assert settings["productEnvName"] == "elsewhere"
    assert "noSuchSetting" not in settings
    assert persisted == [settings]

"""A name server's settings: what tools are told, change, and what is kept."""

from __future__ import annotations

from collections.abc import Mapping

from reference.core.effects import Send
from reference.core.java_properties import read_properties
from reference.core.name_server.dispatch import NameServer
from spec.host import Host
from spec.wire.command import Command, decode_command, encode_command
from spec.wire.request_code import RequestCode

CLIENT = Host.of("127.0.0.1", 40000)


def ask(server: NameServer, code: int, body: bytes = b"") -> Command:
    """Return what *server* answers."""
    request = encode_command(Command(code=code, opaque=1, body=body))
    (effect,) = server.received(1, request, 0)
    assert isinstance(effect, Send)
    return decode_command(effect.data)


def settings_of(server: NameServer) -> dict[str, str]:
    """Return the settings as *server* tells them."""
    answer = ask(server, RequestCode.GET_NAMESRV_CONFIG)
    return read_properties(answer.body.decode())


def test_what_it_was_started_with_goes_over_the_usual() -> None:
    server = NameServer(settings={"listenPort": "1234", "rocketmqHome": "/here"})
    server.opened(1, CLIENT)
    told = settings_of(server)
    assert told["listenPort"] == "1234"
    assert told["rocketmqHome"] == "/here"
    assert told["productEnvName"] == "center"


def test_a_known_setting_is_changed_and_all_are_kept() -> None:
    kept: list[dict[str, str]] = []

    def keep(settings: Mapping[str, str]) -> None:
        kept.append(dict(settings))

    server = NameServer(save_settings=keep)
    server.opened(1, CLIENT)
    change = b"productEnvName=elsewhere\nnoSuchSetting=1\n"
    ask(server, RequestCode.UPDATE_NAMESRV_CONFIG, change)
    told = settings_of(server)
    assert told["productEnvName"] == "elsewhere"
    assert "noSuchSetting" not in told
    assert kept == [told]

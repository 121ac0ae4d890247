"""The port of a broker: an option, a line of broker.conf, or the default."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.core.settings import SettingError
from reference.shell.server import Setup, broker_options


def ports(
    option: int | None = None, settings: dict[str, str] | None = None
) -> tuple[int, int]:
    """Return the ports for clients and for slaves."""
    setup = Setup(
        host="127.0.0.1",
        name_server_port=9876,
        broker_port=option,
        store=Path("store"),
        settings=settings or {},
    )
    options = broker_options(setup)
    return options.listen_port, options.ha_listen_port


def test_the_option_is_preferred_to_the_file_and_the_file_to_the_default() -> None:
    assert ports() == (10911, 10912)
    assert ports(settings={"listenPort": "12000"}) == (12000, 12001)
    assert ports(13000, {"listenPort": "12000"}) == (13000, 13001)
    assert ports(13000, {"haListenPort": "14000"}) == (13000, 13001)


@pytest.mark.parametrize("text", ["99999", "0", "port"])
def test_a_port_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="listenPort"):
        ports(settings={"listenPort": text})

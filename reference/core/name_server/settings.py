"""
The name server's own settings, which tools may read and change while it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reference.core.answer import Answer
from reference.core.java_properties import read_properties, write_properties
from reference.core.request import Request

if TYPE_CHECKING:
    from reference.core.name_server.dispatch import NameServer


SETTINGS: Mapping[str, str] = {
    "clusterTest": "false",
    "listenPort": "9876",
    "orderMessageEnable": "false",
    "productEnvName": "center",
    "serverChannelMaxIdleTimeSeconds": "120",
}
"""What a name server of 4.6.0 can be told, as far as it concerns this one."""


def get_settings(server: NameServer, _: Request) -> Answer:
    """Answer the settings, one a line."""
    return Answer(body=write_properties(server.settings).encode())


def update_settings(server: NameServer, request: Request) -> Answer:
    """Change the settings that the body names; 4.6.0 ignores the ones it lacks."""
    for name, value in read_properties(request.body.decode()).items():
        if name in server.settings:
            server.settings[name] = value
    return Answer()

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
    "clusterTest": "false",  # [ROUTE-CONFIG-004]
    "configStorePath": "namesrv/namesrv.properties",  # [ROUTE-CONFIG-008]
    "kvConfigPath": "namesrv/kvConfig.json",
    "listenPort": "9876",  # [ROUTE-CONFIG-003]
    "orderMessageEnable": "false",
    "productEnvName": "center",
    "rocketmqHome": ".",
    "serverAsyncSemaphoreValue": "64",  # [ROUTE-CONFIG-005]
    "serverCallbackExecutorThreads": "0",
    "serverChannelMaxIdleTimeSeconds": "120",
    "serverOnewaySemaphoreValue": "256",
    "serverPooledByteBufAllocatorEnable": "true",
    "serverSelectorThreads": "3",
    "serverSocketRcvBufSize": "65535",  # [ROUTE-CONFIG-006]
    "serverSocketSndBufSize": "65535",
    "serverWorkerThreads": "8",
    "useEpollNativeSelector": "false",
}
"""What tools are told of a name server of 4.6.0. Threads and buffers are Java's: they
are here for tools that ask, and change nothing."""

FOLLOWED = frozenset(
    {
        "configStorePath",
        "kvConfigPath",
        "listenPort",
        "orderMessageEnable",
        "serverChannelMaxIdleTimeSeconds",
    }
)
"""Settings that this name server goes by."""
_NUMBERS = ("listenPort", "serverChannelMaxIdleTimeSeconds")
TOLD = frozenset({"productEnvName", "rocketmqHome"})
"""Settings that do nothing in 4.6.0 either, as long as clusterTest is false."""


class SettingError(ValueError):
    """A setting that cannot be followed."""


def remarks(given: Mapping[str, str]) -> list[str]:
    """Return what there is to say about settings, one line each.

    Raises SettingError where a name server must not start with them.
    """
    if given.get("clusterTest", "false").lower() == "true":
        raise SettingError(
            "clusterTest asks other name servers, which is not done here"
        )
    for name in _NUMBERS:
        if not given.get(name, "1").isdecimal():
            raise SettingError(f"{name} is {given[name]!r}, which is no number")
    without_effect = given.keys() - FOLLOWED - TOLD - {"clusterTest"}
    return [
        f"{name} has no effect here"
        if name in SETTINGS
        else f"{name} is no setting of a name server; it is only told to who asks"
        for name in sorted(without_effect)
    ]


def get_settings(server: NameServer, _: Request) -> Answer:
    """Answer the settings, one a line."""
    return Answer(body=write_properties(server.settings).encode())  # [ROUTE-CONFIG-001]


def update_settings(server: NameServer, request: Request) -> Answer:
    """Change the settings that the body names; 4.6.0 ignores the ones it lacks."""
    for name, value in read_properties(request.body.decode()).items():
        if name in server.settings:  # [ROUTE-CONFIG-002]
            server.settings[name] = value
    server.settings_changed()
    return Answer()

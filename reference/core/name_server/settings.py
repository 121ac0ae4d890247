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
are here for tools that ask, and change nothing. So are the paths: whoever runs the name
server says where it keeps what."""


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

"""
Settings of the name server (Java: NamesrvConfig, NettyServerConfig).

`mqadmin getNamesrvConfig` and `updateNamesrvConfig` read and change them while the
server runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference.core.java_properties import read_properties, write_properties
from reference.core.persistence import Persistence
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response

DEFAULTS: Mapping[str, str] = {
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
"""Settings of a 4.6.0 name server. Threads and buffers are listed for mqadmin only."""

APPLIED = frozenset(
    {
        "configStorePath",
        "kvConfigPath",
        "listenPort",
        "orderMessageEnable",
        "serverChannelMaxIdleTimeSeconds",
    }
)
"""Settings that change the behaviour of this name server."""
UNUSED_IN_JAVA = frozenset({"productEnvName", "rocketmqHome"})
"""Settings without effect in 4.6.0 as long as clusterTest is false."""
PORT_MAX = 65_535
_NUMBERS = ("listenPort", "serverChannelMaxIdleTimeSeconds")


class SettingError(ValueError):
    """A setting with which the name server must not start."""


class NameServerConfig:
    """The settings of one name server; *persist* writes them to `configStorePath`."""

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        persist: Callable[[Mapping[str, str]], None] = lambda _: None,
    ) -> None:
        self.settings = {**DEFAULTS, **(settings or {})}
        self.persistence = Persistence(lambda: persist(self.settings))

    @property
    def listen_port(self) -> int:
        """The port for clients and brokers (Java: listenPort)."""
        return int(self.settings["listenPort"])

    @property
    def idle_limit_ms(self) -> int:
        """The time without traffic after which a connection is closed."""
        return 1000 * int(self.settings["serverChannelMaxIdleTimeSeconds"])

    @property
    def has_ordered_routes(self) -> bool:
        """Whether routes contain orderTopicConf (Java: orderMessageEnable)."""
        return self.settings["orderMessageEnable"] == "true"

    def update(self, properties: Mapping[str, str]) -> None:
        """Change and persist settings; 4.6.0 ignores names it does not have."""
        for name, value in properties.items():
            if name in self.settings:  # [ROUTE-CONFIG-002]
                self.settings[name] = value
        self.persistence.persist()


def setting_warnings(settings: Mapping[str, str]) -> list[str]:
    """
    Return one line for each setting without effect here, in order of the names.

    Raises SettingError for a setting with which the name server must not start.
    """
    if settings.get("clusterTest", "false").lower() == "true":
        raise SettingError(
            "clusterTest=true forwards requests to other name servers,"
            " which is not implemented"
        )
    for name in _NUMBERS:
        if not settings.get(name, "1").isdecimal():
            raise SettingError(f"{name} is {settings[name]!r}, which is not a number")
    without_effect = settings.keys() - APPLIED - UNUSED_IN_JAVA - {"clusterTest"}
    return [
        f"{name} has no effect here"
        if name in DEFAULTS
        else f"{name} is not a setting of a name server and has no effect"
        for name in sorted(without_effect)
    ]


def check_port(settings: Mapping[str, str]) -> None:
    """Raise SettingError for a listenPort that no socket can have."""
    port = int(settings["listenPort"])
    if not 1 <= port <= PORT_MAX:
        raise SettingError(f"listenPort is {port}, not between 1 and {PORT_MAX}")


def get_config(config: NameServerConfig, _: Request) -> Response:
    """Return all settings as Java properties (Java: getConfig)."""
    text = write_properties(config.settings)
    return Response(body=text.encode())  # [ROUTE-CONFIG-001]


def update_config(config: NameServerConfig, request: Request) -> Response:
    """Change the settings in the body, Java properties (Java: updateConfig)."""
    config.update(read_properties(request.body.decode()))
    return Response()

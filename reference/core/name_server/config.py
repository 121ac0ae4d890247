"""
Settings of the name server (Java: NamesrvConfig, NettyServerConfig).

`mqadmin getNamesrvConfig` and `updateNamesrvConfig` read and change them while the
server runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from reference.core.persistence import Persistence
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from reference.core.settings import (
    Port,
    SettingError,
    Settings,
    ShownOnly,
    read_properties,
    write_properties,
)

Shown = Annotated[int, ShownOnly()]


class NameServerConfig(Settings):
    """The settings of one name server."""

    OWNER = "name server"

    cluster_test: bool = False  # [ROUTE-CONFIG-004]
    config_store_path: str = "namesrv/namesrv.properties"  # [ROUTE-CONFIG-008]
    kv_config_path: str = "namesrv/kvConfig.json"
    listen_port: Port = 9876  # [ROUTE-CONFIG-003]
    order_message_enable: bool = False
    """Whether routes contain orderTopicConf."""
    product_env_name: str = "center"
    rocketmq_home: str = "."
    server_async_semaphore_value: Shown = 64  # [ROUTE-CONFIG-005]
    server_callback_executor_threads: Shown = 0
    server_channel_max_idle_time_seconds: int = 120
    """The time without traffic after which a connection is closed."""
    server_oneway_semaphore_value: Shown = 256
    server_pooled_byte_buf_allocator_enable: Annotated[bool, ShownOnly()] = True
    server_selector_threads: Shown = 3
    server_socket_rcv_buf_size: Shown = 65_535  # [ROUTE-CONFIG-006]
    server_socket_snd_buf_size: Shown = 65_535
    server_worker_threads: Shown = 8
    use_epoll_native_selector: Annotated[bool, ShownOnly()] = False

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        super().__init__(texts)
        if self.cluster_test:
            raise SettingError(
                "clusterTest=true forwards requests to other name servers,"
                " which is not implemented"
            )


def get_config(config: NameServerConfig, _: Request) -> Response:
    """Return all settings as Java properties (Java: getConfig)."""
    body = write_properties(config.texts()).encode()  # [ROUTE-CONFIG-001]
    return Response(body=body)


def update_config(
    config: NameServerConfig, persistence: Persistence, request: Request
) -> Response:
    """Change and persist the settings in the body, Java properties (updateConfig)."""
    config.change(read_properties(request.body.decode()))  # [ROUTE-CONFIG-002]
    persistence.mark_changed()
    return Response()

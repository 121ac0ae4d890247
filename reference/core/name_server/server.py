"""
The name server: its tables, the processor table and the timers.

A code that is not in the processor table gets no response, and its connection stays
open, as in 4.6.0 (Java: NamesrvController, DefaultRequestProcessor#processRequest).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from reference.core.name_server.config import (
    NameServerConfig,
    get_config,
    update_config,
)
from reference.core.name_server.kv_config import (
    KvConfigTable,
    Namespaces,
    delete_kv_config,
    encode_kv_config,
    get_kv_config,
    get_kv_list_by_namespace,
    put_kv_config,
)
from reference.core.name_server.registration_requests import (
    query_data_version,
    register_broker,
    unregister_broker,
)
from reference.core.name_server.route_requests import (
    delete_topic,
    get_all_topics,
    get_cluster_info,
    get_route_info,
    get_system_topics,
    get_topics_by_cluster,
    get_topics_with_flag,
    wipe_write_permission,
)
from reference.core.name_server.route_tables import RouteTables
from reference.core.persistence import RETRY_MS, Persistence
from reference.core.remoting.server import IDLE_SCAN_MS, Handler, RemotingServer
from reference.core.settings import write_properties
from spec.routing.topic_config import TopicFlag as Flag
from spec.wire.remoting.request_code import RequestCode as Code

EXPIRY_SCAN_MS = 10_000
EXPIRY_SCAN_FIRST_MS = 5_000


class NameServer(RemotingServer):
    """A name server. Routes live in memory.

    *replace_text* replaces the file of a path: `kvConfigPath` after each change of the
    *namespaces*, `configStorePath` after each change of the settings.
    """

    def __init__(
        self,
        config: NameServerConfig,
        namespaces: Namespaces,
        replace_text: Callable[[str, str], None],
    ) -> None:
        super().__init__()
        kv_path, config_path = config.kv_config_path, config.config_store_path
        kv_persistence = Persistence(
            lambda: replace_text(kv_path, encode_kv_config(namespaces)), self.log_error
        )
        config_persistence = Persistence(
            lambda: replace_text(config_path, write_properties(config.texts())),
            self.log_error,
        )
        self.config = config
        self.kv_config = KvConfigTable(namespaces, kv_persistence)
        self.routes = RouteTables()
        self.handlers = self._processor_table(config_persistence)
        self.idle_limit_ms = 1000 * config.server_channel_max_idle_time_seconds
        self.persistences = kv_persistence, config_persistence

    def start(self, now_ms: int) -> None:
        """Start the timers: expiry, idle connections, retried writes."""
        first_ms = now_ms + EXPIRY_SCAN_FIRST_MS
        self.timers.call_every(EXPIRY_SCAN_MS, self._expire, first_ms=first_ms)
        self.timers.call_every(IDLE_SCAN_MS, self.close_idle, first_ms=now_ms)
        for persistence in self.persistences:
            self.timers.call_every(RETRY_MS, persistence.retry, first_ms=now_ms)

    def on_connection_lost(self, connection: int, now_ms: int) -> None:  # noqa: ARG002
        """Remove the broker that registered over the closed connection."""
        self.routes.on_connection_lost(connection)

    def _expire(self, now_ms: int) -> None:
        for connection in self.routes.remove_expired(now_ms):
            self.close(connection, "the broker has not registered for two minutes")

    def _processor_table(
        self, config_persistence: Persistence
    ) -> Mapping[int, Handler]:
        """Return the handlers of all requests that a name server serves."""
        routes, kv, config = self.routes, self.kv_config, self.config
        return {  # [ROUTE-CODE-001]
            Code.REGISTER_BROKER: partial(register_broker, routes, kv),
            Code.UNREGISTER_BROKER: partial(unregister_broker, routes),
            Code.QUERY_DATA_VERSION: partial(query_data_version, routes),
            Code.GET_ROUTEINFO_BY_TOPIC: partial(get_route_info, routes, kv, config),
            Code.GET_BROKER_CLUSTER_INFO: partial(get_cluster_info, routes),
            Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: partial(get_all_topics, routes),
            Code.GET_TOPICS_BY_CLUSTER: partial(get_topics_by_cluster, routes),
            Code.GET_SYSTEM_TOPIC_LIST_FROM_NS: partial(get_system_topics, routes),
            # [ROUTE-LIST-006] [ROUTE-LIST-007] [ROUTE-LIST-008]
            Code.GET_UNIT_TOPIC_LIST: partial(get_topics_with_flag, routes, Flag.UNIT),
            Code.GET_HAS_UNIT_SUB_TOPIC_LIST: partial(
                get_topics_with_flag, routes, Flag.UNIT_SUBSCRIPTION
            ),
            Code.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: partial(
                get_topics_with_flag, routes, Flag.UNIT_SUBSCRIPTION, without=Flag.UNIT
            ),
            Code.WIPE_WRITE_PERM_OF_BROKER: partial(wipe_write_permission, routes),
            Code.DELETE_TOPIC_IN_NAMESRV: partial(delete_topic, routes),
            Code.PUT_KV_CONFIG: partial(put_kv_config, kv),
            Code.GET_KV_CONFIG: partial(get_kv_config, kv),
            Code.DELETE_KV_CONFIG: partial(delete_kv_config, kv),
            Code.GET_KVLIST_BY_NAMESPACE: partial(get_kv_list_by_namespace, kv),
            Code.UPDATE_NAMESRV_CONFIG: partial(
                update_config, config, config_persistence
            ),
            Code.GET_NAMESRV_CONFIG: partial(get_config, config),
        }

"""
Which request of a name server goes where.

A code that is not in the table is left unanswered, and the connection stays: so does
4.6.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from reference.core.answer import Answer
from reference.core.name_server.key_values import (
    KeyValues,
    delete_key_value,
    get_key_value,
    list_key_values,
    put_key_value,
)
from reference.core.name_server.registration import (
    query_data_version,
    register_broker,
    unregister_broker,
)
from reference.core.name_server.routes import (
    all_topics,
    cluster_info,
    delete_topic,
    foreign_unit_subscription_topics,
    route_of_topic,
    system_topics,
    topics_of_cluster,
    unit_subscription_topics,
    unit_topics,
    wipe_write_permission,
)
from reference.core.name_server.settings import SETTINGS, get_settings, update_settings
from reference.core.name_server.tables import Tables
from reference.core.request import Request
from reference.core.service import IDLE_SCAN_MS, Service
from spec.wire.request_code import RequestCode as Code

SCAN_PERIOD_MS = 10_000
SCAN_FIRST_MS = 5_000


class NameServer(Service):
    """A name server."""

    def __init__(
        self,
        key_values: KeyValues | None = None,
        *,
        save: Callable[[KeyValues], None] = lambda _: None,
        settings: Mapping[str, str] | None = None,
        save_settings: Callable[[Mapping[str, str]], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self.tables = Tables()
        self.key_values: KeyValues = key_values if key_values is not None else {}
        self.settings = {**SETTINGS, **(settings or {})}
        self.idle_limit_ms = 1000 * int(
            self.settings["serverChannelMaxIdleTimeSeconds"]
        )
        self._save = save
        self._save_settings = save_settings
        self.handlers = {
            int(code): partial(handler, self) for code, handler in HANDLERS.items()
        }

    @property
    def order_messages_enabled(self) -> bool:
        """Whether routes name the order of a topic's queues."""
        return self.settings.get("orderMessageEnable") == "true"

    def start(self, now_ms: int) -> None:
        """Begin to look for silent brokers."""
        first_ms = now_ms + SCAN_FIRST_MS
        self.schedule.every(SCAN_PERIOD_MS, self.scan, first_ms=first_ms)
        self.schedule.every(IDLE_SCAN_MS, self.close_idle, first_ms=now_ms)

    def scan(self, now_ms: int) -> None:
        """Drop brokers that have been silent for too long."""
        for connection in self.tables.expire(now_ms):
            self.close(connection, "the broker has been silent for too long")

    def forget(self, connection: int, now_ms: int) -> None:  # noqa: ARG002
        """Drop the broker that registered by a connection that is gone."""
        self.tables.connection_closed(connection)

    def key_values_changed(self) -> None:
        """Keep the key-value table."""
        self._save(self.key_values)

    def settings_changed(self) -> None:
        """Keep the settings in the file that they name."""
        self._save_settings(self.settings)


# [ROUTE-CODE-001]
HANDLERS: Mapping[Code, Callable[[NameServer, Request], Answer | None]] = {
    Code.REGISTER_BROKER: register_broker,
    Code.UNREGISTER_BROKER: unregister_broker,
    Code.QUERY_DATA_VERSION: query_data_version,
    Code.GET_ROUTEINFO_BY_TOPIC: route_of_topic,
    Code.GET_BROKER_CLUSTER_INFO: cluster_info,
    Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: all_topics,
    Code.GET_TOPICS_BY_CLUSTER: topics_of_cluster,
    Code.GET_SYSTEM_TOPIC_LIST_FROM_NS: system_topics,
    Code.GET_UNIT_TOPIC_LIST: unit_topics,
    Code.GET_HAS_UNIT_SUB_TOPIC_LIST: unit_subscription_topics,
    Code.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: foreign_unit_subscription_topics,
    Code.WIPE_WRITE_PERM_OF_BROKER: wipe_write_permission,
    Code.DELETE_TOPIC_IN_NAMESRV: delete_topic,
    Code.PUT_KV_CONFIG: put_key_value,
    Code.GET_KV_CONFIG: get_key_value,
    Code.DELETE_KV_CONFIG: delete_key_value,
    Code.GET_KVLIST_BY_NAMESPACE: list_key_values,
    Code.UPDATE_NAMESRV_CONFIG: update_settings,
    Code.GET_NAMESRV_CONFIG: get_settings,
}
"""Every request that a name server answers."""

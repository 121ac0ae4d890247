"""Requests to a name server: routes, registrations, key-value settings."""

from __future__ import annotations

from conformance.harness.client.requests.invoker import (
    FieldValue,
    Invoker,
    settings_in,
)
from conformance.harness.process.deadline import wait_until
from spec.layout import LayoutError
from spec.routing.broker_registration import (
    BrokerIdentity,
    RegistrationBody,
    encode_registration,
    registration_fields,
)
from spec.routing.route_data import decode_route
from spec.routing.topic_config import DataVersion, TopicTable, encode_data_version
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def names_brokers(response: Command) -> bool:
    """Return whether *response* is a route with a broker.

    A body that cannot be read counts as one: tests of routes are about it.
    """
    if response.code != ResponseCode.SUCCESS:
        return False
    try:
        return bool(decode_route(response.body).broker_datas)
    except LayoutError:
        return True


class RouteRequests(Invoker):
    """The requests to a name server."""

    def route(self, topic: str) -> Command:
        """Get the brokers and queues of a topic (GET_ROUTEINFO_BY_TOPIC)."""
        return self.invoke(RequestCode.GET_ROUTEINTO_BY_TOPIC, {"topic": topic})

    def wait_for_route(self, topic: str, *, timeout_s: float = 15.0) -> None:
        """Wait until the name server has a route of the topic."""
        wait_until(
            lambda: names_brokers(self.route(topic)),
            what=f"the name server at {self.address} has a route for {topic}",
            timeout_s=timeout_s,
        )

    def cluster_info(self) -> Command:
        """Get all clusters and brokers (GET_BROKER_CLUSTER_INFO)."""
        return self.invoke(RequestCode.GET_BROKER_CLUSTER_INFO)

    def topic_list(self) -> Command:
        """Get the names of all topics."""
        return self.invoke(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)

    def delete_topic_in_namesrv(self, topic: str) -> Command:
        """Delete the route of a topic."""
        return self.invoke(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": topic})

    def wipe_write_permission(self, broker_name: str) -> Command:
        """Take the write permission from all queues of a broker."""
        code = RequestCode.WIPE_WRITE_PERM_OF_BROKER
        return self.invoke(code, {"brokerName": broker_name})

    def put_kv(self, *, namespace: str, key: str, value: str) -> Command:
        """Set a value."""
        fields: dict[str, FieldValue] = {"namespace": namespace, "key": key}
        return self.invoke(RequestCode.PUT_KV_CONFIG, {**fields, "value": value})

    def get_kv(self, *, namespace: str, key: str) -> Command:
        """Get a value of the KV configuration."""
        return self.invoke(
            RequestCode.GET_KV_CONFIG, {"namespace": namespace, "key": key}
        )

    def delete_kv(self, *, namespace: str, key: str) -> Command:
        """Delete a value."""
        fields: dict[str, FieldValue] = {"namespace": namespace, "key": key}
        return self.invoke(RequestCode.DELETE_KV_CONFIG, fields)

    def kv_list(self, *, namespace: str) -> Command:
        """Get all values of a namespace."""
        return self.invoke(
            RequestCode.GET_KVLIST_BY_NAMESPACE, {"namespace": namespace}
        )

    def namesrv_config(self) -> Command:
        """Get the name server's settings."""
        return self.invoke(RequestCode.GET_NAMESRV_CONFIG)

    def namesrv_settings(self) -> dict[str, str]:
        """Return the name server's settings by name."""
        return settings_in(self.namesrv_config())

    def register_broker(
        self,
        identity: BrokerIdentity,
        table: TopicTable,
        *,
        compressed: bool = False,
        filter_servers: tuple[str, ...] = (),
    ) -> Command:
        """Register a broker with its topics, as a broker of `release` does."""
        body = RegistrationBody(topics=table, filter_servers=filter_servers)
        data = encode_registration(body, compressed=compressed, release=self.release)
        fields = registration_fields(identity, data, compressed=compressed)
        return self.invoke(RequestCode.REGISTER_BROKER, fields, data)

    def unregister_broker(self, identity: BrokerIdentity) -> Command:
        """Remove a broker from all routes."""
        return self.invoke(RequestCode.UNREGISTER_BROKER, identity.fields())

    def query_data_version(
        self, identity: BrokerIdentity, version: DataVersion
    ) -> Command:
        """Query whether a broker's topics have changed since *version*."""
        body = encode_data_version(version, self.release)
        return self.invoke(RequestCode.QUERY_DATA_VERSION, identity.fields(), body)

"""Requests to a name server: routes, registrations, key-value settings."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping

from conformance.harness.client.requests.invoker import (
    FieldValue,
    Invoker,
    json_body,
    require_success,
)
from conformance.harness.process.deadline import wait_until
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


class RouteRequests(Invoker):
    """The requests to a name server."""

    def route(self, topic: str) -> Command:
        """Get the brokers and queues of a topic (GET_ROUTEINFO_BY_TOPIC)."""
        return self.invoke(RequestCode.GET_ROUTEINTO_BY_TOPIC, {"topic": topic})

    def wait_for_route(self, topic: str, *, timeout_s: float = 15.0) -> None:
        """Wait until the name server has a route of the topic."""
        wait_until(
            lambda: self.route(topic).code == ResponseCode.SUCCESS,
            what=f"the name server at {self.address} has a route for {topic}",
            timeout_s=timeout_s,
        )

    def cluster_info(self) -> Command:
        """Get all clusters and brokers (GET_BROKER_CLUSTER_INFO)."""
        return self.invoke(RequestCode.GET_BROKER_CLUSTER_INFO)

    def topic_list(self) -> Command:
        """Get the names of all topics."""
        return self.invoke(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)

    def topics_by_cluster(self, cluster: str) -> Command:
        """Get the names of a cluster's topics."""
        return self.invoke(RequestCode.GET_TOPICS_BY_CLUSTER, {"cluster": cluster})

    def system_topic_list(self) -> Command:
        """Get the system topics of clusters and brokers."""
        return self.invoke(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)

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

    def register_broker(
        self,
        *,
        broker_name: str,
        broker_address: str,
        cluster: str = "SuiteCluster",
        broker_id: int = 0,
        ha_address: str = "127.0.0.1:10912",
        topics: Iterable[Mapping[str, object]] = (),
        version: Mapping[str, object] | None = None,
        filter_servers: Iterable[str] = (),
        body: bytes | None = None,
        body_crc: int | None = None,
    ) -> Command:
        """Register a broker with *topics* (see :func:`topic_config`).

        *body* and *body_crc* replace what would be made of the other arguments.
        """
        if body is None:
            body = registration_body(topics, version, filter_servers)
        crc = zlib.crc32(body) & 0x7FFFFFFF if body_crc is None else body_crc
        fields = broker_fields(
            broker_name, broker_address, cluster, broker_id=broker_id
        )
        fields |= {"haServerAddr": ha_address, "compressed": False, "bodyCrc32": crc}
        return self.invoke(RequestCode.REGISTER_BROKER, fields, body)

    def unregister_broker(
        self,
        *,
        broker_name: str,
        broker_address: str,
        cluster: str = "SuiteCluster",
        broker_id: int = 0,
    ) -> Command:
        """Take a broker out of all routes."""
        fields = broker_fields(
            broker_name, broker_address, cluster, broker_id=broker_id
        )
        return self.invoke(RequestCode.UNREGISTER_BROKER, fields)

    def query_data_version(
        self,
        *,
        broker_name: str,
        broker_address: str,
        version: Mapping[str, object],
        cluster: str = "SuiteCluster",
        broker_id: int = 0,
    ) -> Command:
        """Check whether a broker's topics changed since *version*."""
        fields = broker_fields(
            broker_name, broker_address, cluster, broker_id=broker_id
        )
        return self.invoke(RequestCode.QUERY_DATA_VERSION, fields, json_body(version))

    def has_route(self, topic: str) -> bool:
        """Return whether the name server has a route for *topic*."""
        answer = self.route(topic)
        return answer.code == ResponseCode.SUCCESS and bool(
            require_success(answer).body
        )


def broker_fields(
    broker_name: str, broker_address: str, cluster: str, *, broker_id: int
) -> dict[str, FieldValue]:
    """Return the header fields that name one broker."""
    return {
        "brokerName": broker_name,
        "brokerAddr": broker_address,
        "clusterName": cluster,
        "brokerId": broker_id,
    }


def registration_body(
    topics: Iterable[Mapping[str, object]],
    version: Mapping[str, object] | None = None,
    filter_servers: Iterable[str] = (),
) -> bytes:
    """Return the body of a registration."""
    table = {str(topic["topicName"]): dict(topic) for topic in topics}
    wrapper = {
        "topicConfigTable": table,
        "dataVersion": dict(version or {"timestamp": 1, "counter": 1}),
    }
    return json_body(
        {
            "topicConfigSerializeWrapper": wrapper,
            "filterServerList": list(filter_servers),
        }
    )


def topic_config(
    *,
    topic: str,
    read_queue_count: int = 4,
    write_queue_count: int = 4,
    permissions: int = 6,
    system_flags: int = 0,
) -> dict[str, object]:
    """Return a topic's configuration as registrations carry it."""
    return {
        "topicName": topic,
        "readQueueNums": read_queue_count,
        "writeQueueNums": write_queue_count,
        "perm": permissions,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": system_flags,
        "order": False,
    }

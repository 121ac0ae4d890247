"""Requests to a name server: routes, registrations, key-value settings."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping

from conformance.harness.asks.asker import Asker, FieldValue, json_body, succeeded
from conformance.harness.deadline import wait_until
from spec.wire.command import Command
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode


class RouteAsker(Asker):
    """The requests to a name server."""

    def route(self, topic: str) -> Command:
        """Ask which brokers have a topic."""
        return self.ask(RequestCode.GET_ROUTEINTO_BY_TOPIC, {"topic": topic})

    def wait_for_route(self, topic: str, *, timeout_s: float = 15.0) -> None:
        """Wait until the name server knows a topic."""
        wait_until(
            lambda: self.route(topic).code == ResponseCode.SUCCESS,
            what=f"the name server at {self.address} has a route for {topic}",
            timeout_s=timeout_s,
        )

    def cluster_info(self) -> Command:
        """Ask for all clusters and brokers."""
        return self.ask(RequestCode.GET_BROKER_CLUSTER_INFO)

    def topic_list(self) -> Command:
        """Ask for the names of all topics."""
        return self.ask(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)

    def topics_by_cluster(self, cluster: str) -> Command:
        """Ask for the names of a cluster's topics."""
        return self.ask(RequestCode.GET_TOPICS_BY_CLUSTER, {"cluster": cluster})

    def system_topic_list(self) -> Command:
        """Ask for the topics that brokers and clusters have by themselves."""
        return self.ask(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)

    def delete_topic_in_namesrv(self, topic: str) -> Command:
        """Delete the route of a topic."""
        return self.ask(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": topic})

    def wipe_write_permission(self, broker_name: str) -> Command:
        """Take the write permission from all queues of a broker."""
        code = RequestCode.WIPE_WRITE_PERM_OF_BROKER
        return self.ask(code, {"brokerName": broker_name})

    def put_kv(self, *, namespace: str, key: str, value: str) -> Command:
        """Set a value."""
        fields: dict[str, FieldValue] = {"namespace": namespace, "key": key}
        return self.ask(RequestCode.PUT_KV_CONFIG, {**fields, "value": value})

    def get_kv(self, *, namespace: str, key: str) -> Command:
        """Ask for a value."""
        return self.ask(RequestCode.GET_KV_CONFIG, {"namespace": namespace, "key": key})

    def delete_kv(self, *, namespace: str, key: str) -> Command:
        """Delete a value."""
        fields: dict[str, FieldValue] = {"namespace": namespace, "key": key}
        return self.ask(RequestCode.DELETE_KV_CONFIG, fields)

    def kv_list(self, *, namespace: str) -> Command:
        """Ask for all values of a namespace."""
        return self.ask(RequestCode.GET_KVLIST_BY_NAMESPACE, {"namespace": namespace})

    def namesrv_config(self) -> Command:
        """Ask for the name server's settings."""
        return self.ask(RequestCode.GET_NAMESRV_CONFIG)

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
        return self.ask(RequestCode.REGISTER_BROKER, fields, body)

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
        return self.ask(RequestCode.UNREGISTER_BROKER, fields)

    def query_data_version(
        self,
        *,
        broker_name: str,
        broker_address: str,
        version: Mapping[str, object],
        cluster: str = "SuiteCluster",
        broker_id: int = 0,
    ) -> Command:
        """Ask whether a broker's topics changed since *version*."""
        fields = broker_fields(
            broker_name, broker_address, cluster, broker_id=broker_id
        )
        return self.ask(RequestCode.QUERY_DATA_VERSION, fields, json_body(version))

    def knows(self, topic: str) -> bool:
        """Return whether the name server has a route for *topic*."""
        answer = self.route(topic)
        return answer.code == ResponseCode.SUCCESS and bool(succeeded(answer).body)


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

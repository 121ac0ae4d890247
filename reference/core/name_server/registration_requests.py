"""
Handlers of a broker's requests: register, unregister, compare the data version.
"""

from __future__ import annotations

from dataclasses import replace

from reference.core.name_server.kv_config import KvConfigTable
from reference.core.name_server.route_tables import Registration, RouteTables
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import Response
from spec.integers import body_crc
from spec.routing.broker_registration import RegistrationBody, decode_registration
from spec.routing.topic_config import (
    DataVersion,
    TopicTable,
    decode_data_version,
    decode_topic_table,
    encode_data_version,
)
from spec.wire.bodies import fastjson
from spec.wire.remoting.response_code import ResponseCode

_FIRST_WITH_FILTER_SERVERS = 37
"""In requests of older versions the body is the topic table (Java: V3_0_11)."""


def register_broker(
    routes: RouteTables, kv_config: KvConfigTable, request: Request
) -> Response:
    """Register a broker; return its master and the ordered topics.

    Java: registerBrokerWithFilterServer.
    """
    broker = _check_registration(request)
    # [ROUTE-REG-001] [ROUTE-REG-023]
    routes.register(broker, request.connection, request.now_ms)
    master = routes.master_of(broker)  # [ROUTE-REG-009] [ROUTE-REG-010]
    fields = {}
    if master is not None:
        fields = {"masterAddr": master.address}
        if master.ha_address is not None:
            fields["haServerAddr"] = master.ha_address
    order_topics = kv_config.order_topics
    body = b"" if order_topics is None else fastjson.dumps({"table": order_topics})
    return Response(fields=fields, body=body)


def unregister_broker(routes: RouteTables, request: Request) -> Response:
    """Remove a broker that shuts down."""
    routes.unregister(  # [ROUTE-LIVENESS-002] [ROUTE-LIVENESS-005]
        cluster=request.text_or_null("clusterName"),
        address=request.text_or_null("brokerAddr"),
        name=request.text_or_null("brokerName"),
        broker_id=request.int64("brokerId"),
    )
    return Response()


def query_data_version(routes: RouteTables, request: Request) -> Response:
    """Compare a broker's data version with the registered one.

    An equal version renews the registration (Java: queryBrokerTopicConfig).
    """
    address = request.text_or_null("brokerAddr")
    version = _of_4_6(decode_data_version(request.body))
    changed = routes.is_changed(address, version)  # [ROUTE-VERSION-002]
    if not changed:
        routes.renew(address, request.now_ms)  # [ROUTE-LIVENESS-015]
    live = routes.live_brokers.get(address)
    # [ROUTE-VERSION-001] [ROUTE-VERSION-003]
    body = b"" if live is None else encode_data_version(live.version)
    return Response(fields={"changed": changed}, body=body)


def _check_registration(request: Request) -> Registration:
    crc = request.optional_int32("bodyCrc32")
    if crc not in {0, body_crc(request.body)}:  # [ROUTE-REG-003] [ROUTE-REG-004]
        raise Refused(ResponseCode.SYSTEM_ERROR, "crc32 not match")
    return Registration(
        cluster=request.text("clusterName"),
        address=request.text("brokerAddr"),
        name=request.text("brokerName"),
        broker_id=request.int64("brokerId"),  # [ROUTE-REG-006]
        ha_address=request.optional_text("haServerAddr"),
        body=_decode_body(request),  # [ROUTE-REG-005]
        has_filter_servers=request.version >= _FIRST_WITH_FILTER_SERVERS,
    )


def _decode_body(request: Request) -> RegistrationBody:
    """Return the body of a registration; errors are ValueErrors."""
    if not request.body:  # [ROUTE-REG-007]
        return RegistrationBody(topics=TopicTable())
    if request.version < _FIRST_WITH_FILTER_SERVERS:  # [ROUTE-REG-008]
        body = RegistrationBody(topics=decode_topic_table(request.body))
    else:
        body = decode_registration(
            request.body,
            compressed=request.truth("compressed"),  # [ROUTE-REG-002]
            takes_attributes=False,  # [ROUTE-TOPIC-005]
        )
    topics = replace(body.topics, version=_of_4_6(body.topics.version))
    return replace(body, topics=topics)


def _of_4_6(version: DataVersion) -> DataVersion:
    """Return *version* without the member that 5.0 added."""
    return replace(version, state_version=0)

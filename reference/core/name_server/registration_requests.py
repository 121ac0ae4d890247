"""
Handlers of a broker's requests: register, unregister, compare the data version.
"""

from __future__ import annotations

from reference.core.name_server.kv_config import KvConfigTable
from reference.core.name_server.registration_body import (
    decode_body,
    decode_data_version,
)
from reference.core.name_server.route_tables import Registration, RouteTables
from reference.core.remoting.refused import Refused
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.integers import body_crc
from spec.wire.bodies import fastjson
from spec.wire.remoting.response_code import ResponseCode


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
        fields = {"masterAddr": master[0], "haServerAddr": str(master[1])}
    order_topics = kv_config.order_topics
    body = b"" if order_topics is None else fastjson.dumps({"table": order_topics})
    return Response(fields=fields, body=body)


def unregister_broker(routes: RouteTables, request: Request) -> Response:
    """Remove a broker that shuts down."""
    routes.unregister(  # [ROUTE-LIVENESS-002] [ROUTE-LIVENESS-005]
        cluster=request.text("clusterName"),
        address=request.text("brokerAddr"),
        name=request.text("brokerName"),
        broker_id=request.int64("brokerId"),
    )
    return Response()


def query_data_version(routes: RouteTables, request: Request) -> Response:
    """Compare a broker's data version with the registered one.

    An equal version renews the registration (Java: queryBrokerTopicConfig).
    """
    address = request.text("brokerAddr")
    # [ROUTE-VERSION-002]
    changed = routes.is_changed(address, decode_data_version(request.body))
    if not changed:
        routes.renew(address, request.now_ms)
    live = routes.live_brokers.get(address)
    body = b""
    if live is not None:  # [ROUTE-VERSION-001]
        timestamp, counter = live.version
        # [ROUTE-VERSION-003]
        body = fastjson.dumps({"counter": counter, "timestamp": timestamp})
    return Response(fields={"changed": changed}, body=body)


def _check_registration(request: Request) -> Registration:
    crc = request.optional_int32("bodyCrc32")
    if crc not in {0, body_crc(request.body)}:  # [ROUTE-REG-003] [ROUTE-REG-004]
        raise Refused(ResponseCode.SYSTEM_ERROR, "crc32 not match")
    name = request.text("brokerName")
    version, topics, filter_servers = decode_body(request, name)  # [ROUTE-REG-005]
    return Registration(
        cluster=request.text("clusterName"),
        address=request.text("brokerAddr"),
        name=name,
        broker_id=request.int64("brokerId"),  # [ROUTE-REG-006]
        ha_address=request.optional_text("haServerAddr"),
        version=version,
        topics=topics,
        filter_servers=filter_servers,
    )

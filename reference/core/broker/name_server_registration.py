"""
Registration with the name servers (Java: BrokerOuterAPI#registerBrokerAll).

A broker registers with every name server, over one connection each: at its start, after
each change of a topic, and every thirty seconds.
"""

from __future__ import annotations

from msgspec import Struct

from reference.core.broker.ha.ha_service import HAService
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import Topic
from reference.core.remoting.request import Request
from reference.core.remoting.server import RemotingServer
from spec.host import Host
from spec.routing.broker_registration import (
    BrokerIdentity,
    decode_registration,
    encode_registration,
    registration_fields,
)
from spec.wire.bodies import fastjson
from spec.wire.remoting.request_code import RequestCode

RECONNECT_MS = 1_000
FIRST_PERIOD_MS = 10_000


class OrderTopicSource(Struct):
    """The name server whose list of order topics counts: the first with a list.

    The lists of two may differ. A changed topic is registered, so a broker that applies
    both would register without end.
    """

    address: Host | None = None


class NameServerRegistration:
    """The registration with one name server."""

    def __init__(
        self,
        state: BrokerState,
        remoting: RemotingServer,
        ha: HAService,
        address: Host,
        order_source: OrderTopicSource,
    ) -> None:
        self.address = address
        self.is_registered = False
        """Whether the name server has confirmed a registration."""
        self._state = state
        self._remoting = remoting
        self._ha = ha
        self._order_source = order_source
        self._connection: int | None = None

    def start(self, now_ms: int) -> None:
        """Connect, and register again and again."""
        self._connect()
        period_ms = self._state.options.register_name_server_period
        self._remoting.timers.call_every(
            min(max(period_ms, 10_000), 60_000),  # [ROUTE-OUTERAPI-008]
            lambda _: self.register(),
            first_ms=now_ms + FIRST_PERIOD_MS,
        )

    def _connect(self) -> None:
        self._remoting.connect(self.address, self._connect_completed)

    def _connect_completed(self, connection: int | None, now_ms: int) -> None:
        """Register over a new connection; connect again soon without one."""
        self._connection = connection
        if connection is None:
            self._connect_later(now_ms)
        else:
            self.register()

    def connection_lost(self, connection: int, now_ms: int) -> None:
        """Connect again where the connection to the name server is closed."""
        if connection == self._connection:
            self._connection = None
            self._apply_order(None, now_ms)
            self._connect_later(now_ms)

    def register(self, topic: Topic | None = None) -> None:
        """Register with one topic, or with all topics."""
        if self._connection is None:
            return
        options = self._state.options
        # [ROUTE-OUTERAPI-004]
        registered = (
            list(self._state.topics.table.values()) if topic is None else [topic]
        )
        if not (options.may_read and options.may_write):
            registered = [  # [ROUTE-OUTERAPI-015]
                Topic(
                    name=one.name,
                    read_queue_count=one.read_queue_count,
                    write_queue_count=one.write_queue_count,
                    permission=options.broker_permission,
                )
                for one in registered
            ]
        servers = self._state.clients.filter_servers
        wrapper = self._state.topics.as_json(registered)
        content = {
            "filterServerList": [one.client_id for one in servers.values()],
            "topicConfigSerializeWrapper": wrapper,
        }
        body = fastjson.dumps(content)
        is_compressed = options.compressed_register
        if is_compressed:  # [ROUTE-OUTERAPI-007]
            body = encode_registration(decode_registration(body), compressed=True)
        # [ROUTE-OUTERAPI-002] [ROUTE-OUTERAPI-003]
        fields = registration_fields(self._identity(), body, compressed=is_compressed)
        self._call(RequestCode.REGISTER_BROKER, fields, body)

    def unregister(self) -> None:
        """Unregister; the broker stops."""
        # [ROUTE-OUTERAPI-006]
        self._call(RequestCode.UNREGISTER_BROKER, self._identity().fields(), b"")

    def _identity(self) -> BrokerIdentity:
        options = self._state.options
        return BrokerIdentity(
            cluster=options.broker_cluster_name,
            broker_name=options.broker_name,
            address=options.address,
            broker_id=options.broker_id,
            ha_address=options.address_for_slaves,  # [ROUTE-OUTERAPI-013]
        )

    def _call(self, code: int, fields: dict[str, str], body: bytes) -> None:
        if self._connection is not None:
            self._remoting.invoke(
                self._connection, code, fields, body, on_response=self._on_response
            )

    def _on_response(self, response: Request | None) -> None:
        """Use the master and the ordered topics in the name server's response."""
        if response is None or response.connection != self._connection:
            return
        if response.code != 0:
            self._remoting.log_error(f"the name server refused: {response.remark}")
            return
        self.is_registered = True
        self._ha.on_registered(
            self.address,
            master=response.optional_text("masterAddr") or "",
            ha_server=response.optional_text("haServerAddr") or "",
        )
        order = fastjson.loads(response.body) if response.body else None
        self._apply_order(order, response.now_ms)

    def _apply_order(self, order: object, now_ms: int) -> None:
        """Apply the list of order topics, unless that of another name server counts."""
        source = self._order_source
        if source.address not in (None, self.address):
            return
        source.address = None
        if isinstance(order, dict):
            source.address = self.address
            names = (str(name) for name in order.get("table") or {})
            self._state.topics.order(names, now_ms)

    def _connect_later(self, now_ms: int) -> None:
        self._remoting.timers.call_at(now_ms + RECONNECT_MS, lambda _: self._connect())

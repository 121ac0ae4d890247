"""
How the broker makes itself known: it registers with the name server, again and again.

It does so when it starts, when a topic comes or changes, and every thirty seconds.
The name server sits in the same process as often as not; the broker does not know,
and speaks to it over a connection like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from reference.core.answer import encode_call
from reference.core.broker.topics import Topic
from reference.core.request import Request
from spec.host import Host
from spec.integers import body_crc
from spec.routing.broker_registration import decode_registration, encode_registration
from spec.wire import fastjson
from spec.wire.request_code import RequestCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

REDIAL_MS = 1_000
FIRST_PERIOD_MS = 10_000
_READ_AND_WRITE = 6


class NameServerLink:
    """The broker's connection to a name server, and what went over it."""

    def __init__(self, broker: Broker, address: Host) -> None:
        self.address = address
        self.is_registered = False
        """Whether the name server has confirmed a registration."""
        self._broker = broker
        self._connection: int | None = None
        self._opaque = 0
        self._awaited: set[int] = set()

    def start(self, now_ms: int) -> None:
        """Begin to register."""
        self._broker.dial(self.address)
        period_ms = self._broker.options.number("registerNameServerPeriod")
        self._broker.schedule.every(
            min(max(period_ms, 10_000), 60_000),  # [ROUTE-SAY-008]
            lambda _: self.register(),
            first_ms=now_ms + FIRST_PERIOD_MS,
        )

    def reached(self, connection: int | None, now_ms: int) -> None:
        """Register by a new connection; if there is none, try again soon."""
        self._connection = connection
        if connection is None:
            self._dial_again(now_ms)
        else:
            self.register()

    def lost(self, connection: int, now_ms: int) -> None:
        """Look for a new connection if the one to the name server is gone."""
        if connection == self._connection:
            self._connection = None
            self._awaited.clear()
            self._dial_again(now_ms)

    def register(self, topics: Iterable[Topic] | None = None) -> None:
        """Tell the name server about *topics*, or about all of them."""
        if self._connection is None:
            return
        options = self._broker.options
        # [ROUTE-SAY-004]
        told = self._broker.topics.table.values() if topics is None else topics
        if options.permission != _READ_AND_WRITE:
            told = [replace(t, permission=options.permission) for t in told]
        wrapper = self._broker.topics.wrapper(told)
        content = {
            "filterServerList": self._broker.filter_servers.addresses(),
            "topicConfigSerializeWrapper": wrapper,
        }
        body = fastjson.dumps(content)
        is_compressed = options.truth("compressedRegister")
        if is_compressed:  # [ROUTE-SAY-007]
            body = encode_registration(decode_registration(body), compressed=True)
        fields = self._identity() | {  # [ROUTE-SAY-002]
            # [ROUTE-SAY-013]
            "haServerAddr": f"{options.ip_for_slaves}:{options.number('haListenPort')}",
            "compressed": str(is_compressed).lower(),
            "bodyCrc32": str(body_crc(body)),  # [ROUTE-SAY-003]
        }
        self._call(RequestCode.REGISTER_BROKER, fields, body)

    def unregister(self) -> None:
        """Say goodbye."""
        if self._connection is not None:
            # [ROUTE-SAY-006]
            self._call(RequestCode.UNREGISTER_BROKER, self._identity(), b"")

    def answered(self, response: Request) -> bool:
        """Use an answer of the name server; return whether it was one."""
        is_ours = response.connection == self._connection
        if not is_ours or response.opaque not in self._awaited:
            return False
        self._awaited.discard(response.opaque)
        if response.code != 0:
            self._broker.complain(f"the name server refused: {response.remark}")
            return True
        self.is_registered = True
        self._broker.replicas.told(
            self.address,
            master=response.optional_text("masterAddr") or "",
            replication=response.optional_text("haServerAddr") or "",
        )
        order = fastjson.loads(response.body) if response.body else None
        if isinstance(order, dict):
            # [ROUTE-BROKER-012]
            names = (str(name) for name in order.get("table") or {})
            self._broker.topics.order(names, response.now_ms)
        return True

    def _identity(self) -> dict[str, str]:
        options = self._broker.options
        return {
            "brokerAddr": options.address,
            "brokerId": str(options.broker_id),
            "brokerName": options.name,
            "clusterName": options.cluster,
        }

    def _call(self, code: int, fields: dict[str, str], body: bytes) -> None:
        if self._connection is not None:
            self._opaque += 1
            self._awaited.add(self._opaque)
            call = encode_call(code, fields, body, opaque=self._opaque)
            self._broker.send(self._connection, call)

    def _dial_again(self, now_ms: int) -> None:
        self._broker.schedule.at(
            now_ms + REDIAL_MS, lambda _: self._broker.dial(self.address)
        )

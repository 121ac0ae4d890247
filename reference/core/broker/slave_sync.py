"""
What a slave asks its master for, again and again: topics, groups, and how far consumers
and delay levels are (Java: SlaveSynchronize).

The requests are those that tools use. A master whose answer cannot be read is asked
again ten seconds later, and the tables stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from reference.core.answer import Answer, encode_call
from reference.core.request import Request
from reference.core.store.config_files import DELAY_OFFSETS
from spec.host import Host
from spec.layout import LayoutError
from spec.wire import fastjson
from spec.wire.request_code import RequestCode
from spec.wire.slave import SYNCHRONIZE_FIRST_MS, SYNCHRONIZE_PERIOD_MS

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

_UNREADABLE = (LayoutError, LookupError, ValueError, TypeError, AttributeError)
Take = Callable[[Mapping[Any, Any], int], None]
"""What is done with the body of an answer; the other argument is the time."""


class SlaveSync:
    """A slave's connection to its master's broker port, and what is asked there."""

    def __init__(self, broker: Broker) -> None:
        self.address: Host | None = None
        """The master's, as a name server said it; None where there is none."""
        self._broker = broker
        self._connection: int | None = None
        self._questions: Mapping[RequestCode, Take] = {
            RequestCode.GET_ALL_TOPIC_CONFIG: broker.topics.follow,
            RequestCode.GET_ALL_CONSUMER_OFFSET: self._take_offsets,
            RequestCode.GET_ALL_DELAY_OFFSET: self._take_delay_offsets,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: broker.groups.follow,
        }

    def start(self, now_ms: int) -> None:
        """Begin to ask."""
        self._broker.schedule.every(  # [HA-SLAVE-008]
            SYNCHRONIZE_PERIOD_MS,
            self._synchronize,
            first_ms=now_ms + SYNCHRONIZE_FIRST_MS,
        )

    def look_to(self, address: Host | None) -> None:
        """Ask at *address* from now on; None says that there is no master just now."""
        if address != self.address and self._connection is not None:
            self._broker.close(self._connection, "the master is elsewhere")
            self._connection = None
        self.address = address

    def reached(self, address: Host, connection: int | None) -> None:
        """Ask by a connection that was asked for, if it is ours."""
        if address == self.address and self._connection is None:
            self._connection = connection
            self._ask()

    def lost(self, connection: int) -> None:
        """Note that a connection is gone."""
        if connection == self._connection:
            self._connection = None

    def _synchronize(self, now_ms: int) -> None:  # noqa: ARG002
        if self._connection is not None:
            self._ask()
        elif self.address is not None:
            self._broker.dial(self.address)

    def _ask(self) -> None:
        if self._connection is None:
            return
        for code, take in self._questions.items():
            number = self._broker.expect(partial(self._answered, code, take))
            call = encode_call(code, {}, opaque=number)
            self._broker.send(self._connection, call)

    def _answered(self, code: RequestCode, take: Take, response: Request) -> None:
        """Use an answer of the master; one of somebody else is dropped."""
        if response.connection != self._connection:
            return
        if response.code != 0:
            self._broker.complain(f"{code.name}: the master says {response.remark}")
            return
        try:
            body = fastjson.loads(response.body)
            if not isinstance(body, Mapping):
                raise ValueError("the body is no object")
            take(body, response.now_ms)
        except _UNREADABLE as error:
            text = f"the master's answer cannot be read: {error}"
            self._broker.complain(f"{code.name}: {text}")

    def _take_offsets(self, body: Mapping[Any, Any], now_ms: int) -> None:  # noqa: ARG002
        self._broker.offsets.load(body)  # [HA-SLAVE-005]
        self._broker.offsets.is_dirty = True

    def _take_delay_offsets(
        self,
        body: Mapping[Any, Any],
        now_ms: int,  # noqa: ARG002
    ) -> None:
        store = self._broker.store
        table = body.get("offsetTable") or {}
        offsets = {int(level): int(offset) for level, offset in table.items()}
        store.config.save(DELAY_OFFSETS, {"offsetTable": offsets})  # [HA-SLAVE-006]
        store.schedule.offsets = offsets


def all_delay_offsets(broker: Broker, request: Request) -> Answer:  # noqa: ARG001
    """Return how far every delay level was delivered."""
    table = {"offsetTable": broker.store.schedule.offsets}
    return Answer(body=fastjson.dumps(table))

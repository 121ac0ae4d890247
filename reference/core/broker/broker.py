"""
The broker: its tables, its store, and what it does without being asked.

What it does when asked is in the modules beside this one; ``dispatch`` says which
request goes to which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from reference.core.answer import Answer, encode_answer, relay
from reference.core.broker.clients import Clients
from reference.core.broker.consumer_filters import new_filters
from reference.core.broker.consumer_offsets import ConsumerOffsets
from reference.core.broker.filter_servers import FilterServers
from reference.core.broker.flushing import Flushing
from reference.core.broker.held_pulls import HeldPull, HeldPulls
from reference.core.broker.housekeeping import Housekeeping
from reference.core.broker.locks import QueueLocks
from reference.core.broker.membership import tell_members
from reference.core.broker.options import BrokerOptions
from reference.core.broker.pull import pull_once
from reference.core.broker.registration import NameServerLink
from reference.core.broker.replicas import Replicas
from reference.core.broker.sends_together import store_together
from reference.core.broker.subscription import Subscription
from reference.core.broker.subscription_groups import SubscriptionGroups
from reference.core.broker.topics import PERM_READ, PERM_WRITE, Topic, Topics
from reference.core.broker.traffic import Traffic
from reference.core.effects import Effect
from reference.core.request import Request
from reference.core.service import Service
from reference.core.store.api import Arrival, PutResult, Queue
from reference.core.store.config_files import (
    CONSUMER_FILTERS,
    CONSUMER_OFFSETS,
    SUBSCRIPTION_GROUPS,
    TOPICS,
    ConfigFiles,
)
from reference.core.store.message_store import MessageStore
from spec.host import Host
from spec.store.message_record import Record, decode_record
from spec.wire.request_code import RequestCode
from spec.wire.unique_key import UniqueKey, encode_unique_key

_ASKED_MAX = 1 << 20


class Broker(Service):
    """A broker, a master or a slave."""

    def __init__(
        self,
        options: BrokerOptions,
        store: MessageStore,
        config: ConfigFiles,
        *,
        handlers: Mapping[RequestCode, Callable[[Broker, Request], Answer | None]],
        now_ms: int,
    ) -> None:
        super().__init__()
        self.options = options
        self.store = store
        self.clients = Clients()
        self.offsets = ConsumerOffsets()
        self.locks = QueueLocks()
        self.held = HeldPulls()
        self.traffic = Traffic(options.cluster)
        self.filter_servers = FilterServers()
        self.filters = new_filters(options)
        self.topics = Topics(options, now_ms=now_ms, changed=self._topics_changed)
        self.groups = SubscriptionGroups(
            options, now_ms=now_ms, changed=self._groups_changed
        )
        self.handlers = {
            int(code): partial(handler, self) for code, handler in handlers.items()
        }
        port = options.number("listenPort")
        self.store_host = Host.of(options.ip, port)
        self.started_at_ms = now_ms
        self.links: tuple[NameServerLink, ...] = ()
        self.flushing = Flushing(self)
        self.housekeeping = Housekeeping(self, config)
        self.replicas = Replicas(self)
        self._config = config
        self._number = 0
        self._asked: dict[int, Callable[[Request], None]] = {}
        self._load()

    @property
    def may_read(self) -> bool:
        """Whether this broker hands out messages."""
        return bool(self.options.permission & PERM_READ)

    @property
    def may_write(self) -> bool:
        """Whether this broker takes messages."""
        return bool(self.options.permission & PERM_WRITE)

    def start(self, name_servers: Sequence[Host], now_ms: int) -> None:
        """Begin to do what is done without being asked."""
        self.links = tuple(NameServerLink(self, one) for one in name_servers)
        for link in self.links:  # [ROUTE-SAY-001]
            link.start(now_ms)
        self.store.dispatcher.filter_bits = self._filter_bits
        self.flushing.start(now_ms)
        self.housekeeping.start(now_ms)
        self.replicas.start(now_ms)

    def stop(self, now_ms: int) -> None:
        """Say goodbye and keep what is to be kept; the store is stopped after this."""
        for link in self.links:
            link.unregister()
        self.housekeeping.keep_offsets(now_ms)
        self.housekeeping.keep_filters(now_ms)

    def stored(self, result: PutResult) -> None:
        """Note that something was put, so that it is dispatched before long."""
        if result.is_stored:
            self.is_unsettled = True

    def handle_together(self, requests: Sequence[Request]) -> Sequence[Answer | None]:
        """Store everyday sends in one go."""
        return store_together(self, requests)

    def settle(self, now_ms: int) -> None:
        """Let what was put be seen, and wake who waited for it."""
        if not self.is_unsettled:
            return
        self.is_unsettled = False
        self.flushing.has_put(now_ms)
        self.let_see(now_ms)

    def let_see(self, now_ms: int) -> None:
        """Give readers what is new in the log, those first who wait for it."""
        self.replicas.slaves.log_has_grown(now_ms)
        self.wake(self.store.dispatch(), now_ms)

    def wake(self, arrivals: Sequence[Arrival], now_ms: int) -> None:
        """Answer the pulls that waited for what has arrived."""
        for pull in self.held.arrived(arrivals, self._is_wanted):
            self._try_again(pull, now_ms)

    def _is_wanted(self, arrival: Arrival, subscription: Subscription) -> bool:
        """Return whether what has arrived is for a subscription, by its record."""
        if not subscription.looks_at_records:
            return True
        place = arrival.topic, arrival.queue_id, arrival.end_offset - 1
        record = self.store.record(*place)
        # [PULL-SQL-014]
        return record is not None and subscription.accepts(record)

    def _filter_bits(self, topic: str, record: memoryview) -> bytes:
        """Return the bit map of a message; tools may switch bit maps on and off."""
        is_on = self.options.truth("enableCalcFilterBitMap")
        return self.filters.bits(topic, record) if is_on else b""

    def hold(self, queue: Queue, pull: HeldPull) -> None:
        """Let a pull wait until something arrives or its time is up."""
        self.held.hold(queue, pull)
        self.schedule.at(pull.deadline_ms, self._answer_overdue)

    def check_held(self, now_ms: int) -> None:
        """Try held pulls again whose queues have grown, by whatever it is."""
        for topic, queue_id in self.held.queues():
            end = self.store.max_offset(topic, queue_id)
            for pull in self.held.grown((topic, queue_id), end):
                self._try_again(pull, now_ms)

    def flushed(self, number: int, now_ms: int, refused: str = "") -> list[Effect]:
        """Note that the files of a Flush are on disk, or why they are not."""
        self.flushing.finished(number, now_ms, refused)
        return self.take()

    def response(self, response: Request) -> None:
        """Use a name server's answer, or a client's answer to what it was asked."""
        if any(link.answered(response) for link in self.links):
            return
        use = self._asked.pop(response.opaque, None)
        if use is not None:
            use(response)

    def relay(self, request: Request, connection: int) -> None:
        """Pass a question on to a client, and its answer back to who asked."""

        def pass_back(response: Request) -> None:
            answer = Answer(
                response.code, response.remark, response.fields, response.body
            )
            self.answer_later(request, answer)

        number = self.expect(pass_back)
        self.send(connection, relay(request, opaque=number))

    def expect(self, use: Callable[[Request], None]) -> int:
        """Return the opaque of a question whose answer is to be used so."""
        if len(self._asked) >= _ASKED_MAX:
            self._asked.clear()
        number = self.next_number()
        self._asked[number] = use
        return number

    def answer_later(self, request: Request, answer: Answer) -> None:
        """Answer a request that its handler left unanswered."""
        if not request.flag & 2:  # [WIRE-COMMAND-002]
            self.send(request.connection, encode_answer(request.opaque, answer))

    def forget(self, connection: int, now_ms: int) -> None:
        """Take a lost connection out of everything."""
        self.held.drop(connection)
        self.filter_servers.drop(connection)
        for group in self.clients.drop(connection):
            tell_members(self, group, now_ms)
            if not group.members:
                self.filters.leave(group.name, now_ms)
        for link in self.links:
            link.lost(connection, now_ms)
        self.replicas.tables.lost(connection)

    def reached(self, address: Host, connection: int | None, now_ms: int) -> None:
        """Register by the connection to a name server."""
        for link in self.links:
            if link.address == address:
                link.reached(connection, now_ms)
        self.replicas.tables.reached(address, connection)

    def announce(self, topics: Iterable[Topic] | None) -> None:
        """Tell the name server about *topics*, or about everything."""
        told = None if topics is None else list(topics)
        for link in self.links:
            link.register(told)

    def record_at(self, offset: int) -> Record | None:
        """Return the message at a place in the commit log, if one begins there."""
        data = self.store.record_at(offset)
        return None if data is None else decode_record(data)

    def next_number(self) -> int:
        """Return another number each time: what Java does with a random one."""
        self._number += 1
        return self._number

    def unique_key(self, now_ms: int) -> str:
        """Return a unique key for a message that the broker itself makes."""
        number = self.next_number()
        key = UniqueKey(
            address=self.store_host.address,
            process_id=0,
            class_loader_hash=0,
            since_month_ms=now_ms & 0x7FFFFFFF,
            counter=number & 0xFFFF,
        )
        return encode_unique_key(key)

    def queue_key(self, topic: str, queue_id: int) -> tuple[tuple[str, object], ...]:
        """Return a queue as the key of a map whose keys are objects."""
        return (
            ("brokerName", self.options.name),
            ("queueId", queue_id),
            ("topic", topic),
        )

    def delete_unknown_topics(self) -> None:
        """Delete the queues of topics that are not configured."""
        self.store.clean_unused_topics(self.topics.table.keys())

    def _try_again(self, pull: HeldPull, now_ms: int) -> None:
        pull.request.now_ms = now_ms
        answer = pull_once(self, pull.request, may_hold=False)
        if answer is not None:
            frame = encode_answer(pull.request.opaque, answer)
            self.send(pull.request.connection, frame)

    def _answer_overdue(self, now_ms: int) -> None:
        for pull in self.held.overdue(now_ms):
            self._try_again(pull, now_ms)

    def _topics_changed(self, topic: Topic | None) -> None:
        self._config.save(TOPICS, self.topics.as_json())
        self.announce(None if topic is None else [topic])  # [ROUTE-SAY-005]

    def _groups_changed(self) -> None:
        self._config.save(SUBSCRIPTION_GROUPS, self.groups.as_json())

    def _load(self) -> None:
        loads = (
            (TOPICS, self.topics.load),
            (SUBSCRIPTION_GROUPS, self.groups.load),
            (CONSUMER_OFFSETS, self.offsets.load),
            (CONSUMER_FILTERS, partial(self.filters.load, now_ms=self.started_at_ms)),
        )
        for name, load in loads:
            content = self._config.load(name)
            if content is not None:
                load(content)

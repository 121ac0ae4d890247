"""
The broker: its state, its long-lived parts, and the remoting server around them.

The controller (Java: BrokerController) builds every part with what that part needs, and
passes on the events of the remoting server. Nothing but the shell imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from reference.core.broker.acl.access_control import RELOAD_MS, AccessControl, AclFile
from reference.core.broker.admin.broker_statistics import BrokerStatistics
from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.filter.consumer_filters import ConsumerFilters
from reference.core.broker.group.heartbeat import on_connection_lost
from reference.core.broker.group.subscription_groups import SubscriptionGroups
from reference.core.broker.ha.ha_service import HAService
from reference.core.broker.name_server_registration import (
    NameServerRegistration,
    OrderTopicSource,
)
from reference.core.broker.ports import Ports
from reference.core.broker.processor_table import (
    HANDLERS,
    PORT_HANDLERS,
    SEQUENCE_HANDLERS,
)
from reference.core.broker.pull.long_polling import LongPolling
from reference.core.broker.scheduled.flusher import Flusher
from reference.core.broker.scheduled.scheduled_tasks import (
    persist_filters,
    persist_offsets,
    start_scheduled_tasks,
)
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import Topic, Topics
from reference.core.persistence import RETRY_MS, Persistence
from reference.core.remoting.effects import Effect, LogError, SetTimer
from reference.core.remoting.server import IDLE_SCAN_MS, RemotingServer
from reference.core.store.mapped.files import FilesError
from reference.core.store.message_store import MessageStore
from spec.host import Host
from spec.store.config.config_files import (
    CONSUMER_FILTERS_FILE,
    CONSUMER_OFFSETS_FILE,
    GROUPS_FILE,
    TOPICS_FILE,
)
from spec.store.config.group_settings import SubscriptionGroupConfig
from spec.wire.message.message_id import encode_message_id

HOLD_CHECK_MS = 5_000
"""Period at which held pull requests are compared with the ends of their queues."""


class BrokerController(RemotingServer):
    """A broker, a master or a slave."""

    def __init__(
        self,
        options: BrokerOptions,
        store: MessageStore,
        *,
        now_ms: int,
        acl_file: AclFile | None = None,
        persist_settings: Callable[[Mapping[str, str]], None] = lambda _: None,
    ) -> None:
        """Load the tables. *persist_settings* writes changes to broker.conf."""
        super().__init__()
        store_host = Host.of(
            options.store_ip or options.broker_ip1, options.listen_port
        )
        self.state = BrokerState(
            options=options,
            store=store,
            topics=Topics(options, now_ms=now_ms, changed=self._on_topics_changed),
            groups=SubscriptionGroups(
                options, now_ms=now_ms, changed=self._on_groups_changed
            ),
            filters=ConsumerFilters(options),
            statistics=BrokerStatistics(options.broker_cluster_name),
            connections=self.connections,
            store_host=store_host,
            message_id_begin=encode_message_id(store_host, 0)[:-16],
            started_at_ms=now_ms,
        )
        self.registrations: list[NameServerRegistration] = []
        self.long_polling = LongPolling(self.state, self)
        self.ha = HAService(self.state, self)
        self.flusher = Flusher(
            self.state, self, on_messages=self.long_polling.on_messages
        )
        self._topics_file = self._file_of(TOPICS_FILE, self.state.topics.as_json)
        self._groups_file = self._file_of(GROUPS_FILE, self.state.groups.as_json)
        self._settings_file = Persistence(
            lambda: persist_settings(options.changes), self.log_error
        )
        self.persistences = self._topics_file, self._groups_file, self._settings_file
        self._unregistered: list[Topic | None] = []
        """Changed topics that the name servers have not been sent; None is all."""
        self._register_processors()
        self._load_tables()
        if acl_file is not None:
            control = AccessControl(acl_file, self.log_error)
            self.state.access_control, self.check_access = control, control.check

    def start(self, name_servers: Sequence[Host], now_ms: int) -> None:
        """Connect to the name servers and start the timers."""
        order_source = OrderTopicSource()
        for address in name_servers:  # [ROUTE-OUTERAPI-001]
            registration = NameServerRegistration(
                self.state, self, self.ha, address, order_source
            )
            self.registrations.append(registration)
            registration.start(now_ms)
        self.state.store.dispatcher.calc_bit_map = self._calc_bit_map
        self.flusher.start(now_ms)
        start_scheduled_tasks(self.state, self, now_ms)
        every = self.timers.call_every
        held_check = self.long_polling.check_held
        every(HOLD_CHECK_MS, held_check, first_ms=now_ms + HOLD_CHECK_MS)
        every(IDLE_SCAN_MS, self.close_idle, first_ms=now_ms + IDLE_SCAN_MS)
        for persistence in self.persistences:
            every(RETRY_MS, persistence.retry, first_ms=now_ms)
        if self.state.access_control is not None:
            reload = self.state.access_control.reload
            every(RELOAD_MS, reload, first_ms=now_ms + RELOAD_MS)
        self.ha.start(now_ms)

    def stop(self, now_ms: int) -> None:
        """Unregister and persist the tables; the store is stopped after this."""
        for registration in self.registrations:
            registration.unregister()
        for persist in (persist_offsets, persist_filters):
            try:
                persist(self.state, now_ms)
            except FilesError as error:
                self.log_error(f"at the stop: {error}")

    def take_effects(self) -> list[Effect | LogError | SetTimer]:
        """Register the changed topics, and return the effects since the last call."""
        if self._unregistered:
            # All topics where several have changed: a name server does not take the
            # second of two registrations with one data version.
            topics, self._unregistered = self._unregistered, []
            topic = topics[0] if len(topics) == 1 else None
            self._register_topics(topic)  # [ROUTE-OUTERAPI-005]
        return super().take_effects()

    def run_deferred_work(self, now_ms: int) -> None:
        """Flush, replicate and dispatch new messages; respond to held pull requests.

        Their puts are counted here, too.
        """
        if not self.state.has_appended:
            return
        if self.flusher.flushes_on_append:
            self.flusher.on_append()
        self.state.has_appended = False
        if self.ha.slaves.connected:
            self.ha.slaves.on_append(now_ms)
        self.long_polling.on_messages(self.state.store.dispatch(), now_ms)
        self.state.statistics.count_puts()

    def on_connection_lost(self, connection: int, now_ms: int) -> None:
        """Remove a closed connection from all tables and parts."""
        self.long_polling.drop(connection, now_ms)
        for group in self.state.clients.drop(connection):
            on_connection_lost(self.state, self, group, now_ms)
        for registration in self.registrations:
            registration.connection_lost(connection, now_ms)
        self.ha.slave_sync.connection_lost(connection)

    def _register_processors(self) -> None:
        state = self.state
        ports = Ports(
            remoting=self,
            flusher=self.flusher,
            slaves=self.ha.slaves,
            hold_pull=self.long_polling.hold,
            register_topics=self._register_topics,
            persist_settings=self._settings_file.mark_changed,
        )
        self.handlers = {
            **{int(code): partial(one, state) for code, one in HANDLERS.items()},
            **{
                int(code): partial(one, state, ports)
                for code, one in PORT_HANDLERS.items()
            },
        }
        self.sequence_handlers = {
            int(code): partial(one, state, ports)
            for code, one in SEQUENCE_HANDLERS.items()
        }

    def _calc_bit_map(self, topic: str, record: memoryview) -> bytes:
        """Return the bit map of a message; tools may switch bit maps on and off."""
        is_on = self.state.options.enable_calc_filter_bit_map
        return self.state.filters.bits(topic, record) if is_on else b""

    def _on_topics_changed(self, topic: Topic | None) -> None:
        self._topics_file.mark_changed()
        self._unregistered.append(topic)

    def _register_topics(self, topic: Topic | None = None) -> None:
        for registration in self.registrations:
            registration.register(topic)

    def _on_groups_changed(self, _group: SubscriptionGroupConfig | None) -> None:
        self._groups_file.mark_changed()

    def _file_of(
        self, name: str, as_json: Callable[[], dict[str, object]]
    ) -> Persistence:
        config = self.state.store.config
        return Persistence(lambda: config.save(name, as_json()), self.log_error)

    def _load_tables(self) -> None:
        state, config = self.state, self.state.store.config
        loads = (
            (TOPICS_FILE, state.topics.load),
            (GROUPS_FILE, state.groups.load),
            (CONSUMER_OFFSETS_FILE, state.offsets.load),
            (
                CONSUMER_FILTERS_FILE,
                partial(state.filters.load, now_ms=state.started_at_ms),
            ),
        )
        for name, load in loads:
            config.load(name, load)
        for line in config.notices.values():
            self.log_error(line)

"""A cluster that already runs, known by the address of its name server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.client.access import OPEN, Access
from conformance.harness.client.address import LOOPBACK, Address
from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.client.peer_errors import PeerError
from conformance.harness.java.cluster_info import broker_addresses
from conformance.harness.process.deadline import wait_until
from conformance.harness.process.process import accepts
from conformance.harness.targets.health import (
    BROKER,
    NAME_SERVER,
    PATIENCE_S,
    is_silent,
    tls_problem,
)
from conformance.harness.targets.probing.probe import guess_release
from conformance.harness.targets.store_target import check_readable, check_size
from conformance.harness.targets.target import (
    Capability,
    Target,
    TargetError,
    nearest_release,
)
from spec.clause import release_key
from spec.layout import LayoutError
from spec.routing.route_data import decode_route
from spec.wire.ha.replication import PORT_DISTANCE
from spec.wire.message.topic_names import (
    BENCHMARK_TOPIC,
    DEFAULT_TOPIC,
    SELF_TEST_TOPIC,
)
from spec.wire.remoting.response_code import ResponseCode

MASTER_ID = 0
NO_RESPONSE = AssertionError, PeerError, LayoutError, ValueError
"""Errors of a request that the peer refuses, or responds to with something else."""
CHECKS_OF_ACCESS = "authenticationEnabled", "authorizationEnabled"
"""Settings of a broker with users (Java: AuthConfig)."""
BROKERS_OWN_TOPICS = DEFAULT_TOPIC, SELF_TEST_TOPIC, BENCHMARK_TOPIC
"""Topics of every broker, of which a proxy may have the route."""
STORE = "store"
"""Directory of the broker's store, which the text of a target may state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """Broker as registered with the name server."""

    name: str
    cluster: str
    address: Address | None


class RunningClusterTarget(Target):
    """Foreign cluster: it is only queried, never started, stopped or configured.

    ``HOST:PORT?broker=HOST:PORT&admin=HOST:PORT`` states the address that is tested,
    such as that of a proxy, and the broker behind it that creates topics. A proxy alone
    is broker and name server at one address. With ``store=/path``, the files of its
    store are read.
    """

    capabilities = frozenset({Capability.WIRE})
    is_foreign = True
    may_state = ("broker", "admin")

    def _configure(self) -> None:
        self.namesrv = Address.parse(self.rest)
        if STORE in self.conf:
            self.store_path = Path(self.conf.pop(STORE)).resolve()
            self.capabilities |= {Capability.STORE}
        for key in self.conf:
            known = ", ".join((*self.may_state, STORE))
            raise TargetError(f"{self.text}: {key} is not one of {known}")

    def start(self) -> None:
        """Find the stated broker of the cluster, or its first, and its release."""
        assert self.namesrv is not None
        for key, address in {"": self.namesrv, **self.stated}.items():
            if not accepts(*address):
                source = f", which ?{key}= states" if key else ""
                raise TargetError(f"no listener on {address}{source}")
            if is_silent(address, self.access.tls):
                raise TargetError(
                    f"{address} accepts connections, but sends no response within"
                    f" {PATIENCE_S:g} s"
                )
            self._check_tls(BROKER if key else NAME_SERVER, address)
        if self.store_path is not None:
            if not self.store_path.is_dir():
                raise TargetError(f"{self.text}: no directory {self.store_path}")
            check_readable(self.store_path)
            check_size(self.store_path)
        stated = self.stated.get("admin", self.stated.get("broker"))
        self._choose_broker(find_broker(self.namesrv, self.access, stated=stated))
        if not self.has_profile:
            self._choose_release()
        if self.broker is not None:
            self.capabilities |= set(found_capabilities(self.broker, self.access))

    def _check_tls(self, role: str, address: Address) -> None:
        """Raise TargetError where the stated TLS is not that of a server."""
        if problem := tls_problem(role, address, self.access.tls):
            raise TargetError(problem)

    def _choose_broker(self, found: Broker) -> None:
        """Set addresses and names: stated ones, *found* ones, or those of a proxy."""
        assert self.namesrv is not None
        self.broker = self.stated.get("broker", found.address)
        self.admin = self.stated.get("admin")
        if self.admin is None and self.broker != found.address:
            self.registered = found.address
        self.broker_name, self.cluster = found.name, found.cluster
        is_stated = "broker" in self.stated
        if not is_stated and self.broker is not None and not accepts(*self.broker):
            raise TargetError(
                f"no listener on {self.broker}, which is the registered address of the"
                f" broker; {self.namesrv}?broker=HOST:PORT states another one"
            )
        if not is_stated and self.broker is not None:
            self._check_tls(BROKER, self.broker)
        if self.broker is None:
            self._examine_name_server(self.namesrv)
        if self.admin is not None and not found.name:
            self.broker_name, self.cluster = names_of(self.admin, self.access)

    def _examine_name_server(self, address: Address) -> None:
        """Take a proxy at *address* as broker, too; TargetError for a broker."""
        has_list, has_routes, has_groups = answered(address, self.access)
        is_no_name_server = has_groups and not has_list
        name, _ = ("", "") if self.stated else names_of(address, self.access)
        if name or (is_no_name_server and not has_routes and not self.stated):
            broker = f"broker {name}" if name else "a broker"
            raise TargetError(
                f"{address} is the address of {broker}; a target is the address of its"
                " name server"
            )
        if is_no_name_server and has_routes:
            self.broker = address
            self.broker_name, self.cluster = names_in_route(address, self.access)

    def _choose_release(self) -> None:
        """Set the release: the reported one, a guess, or the default."""
        reported = None
        if self.broker is not None:
            reported = reported_release(self.broker, self.access)
        if reported is not None:
            self.release = nearest_release(reported)
            self.release_source = f"the broker reports {reported}"
            self.stated_release = reported
            if self.release == reported:
                self.release_source = self.stated_release = ""
        elif guess := guess_release(self.namesrv, self.broker, self.access):
            self.release = guess.release
            self.release_source = f"a guess: {guess.reason}"
        else:
            self.release_source = "a default, because nothing states its release"


def find_broker(
    namesrv: Address,
    access: Access = OPEN,
    *,
    stated: Address | None = None,
    timeout_s: float = 5.0,
) -> Broker:
    """Return the master at *stated*, or the first of the cluster, once registered.

    Tests examine the name server's responses, so an invalid response is tolerated here.
    A target may have no registered broker.
    """
    found: list[Broker] = []

    def has_a_broker() -> bool:
        with Client.connect(namesrv, access=access) as client:
            found.extend(brokers_in(body_of(client.cluster_info())))
        return bool(found)

    what = f"the name server at {namesrv} has a registered broker"
    try:
        wait_until(has_a_broker, what=what, timeout_s=timeout_s)
    except NO_RESPONSE:
        addresses = sorted(broker_addresses(namesrv, access.tls))
        address = Address.parse(addresses[0]) if addresses else None
        return Broker(name="", cluster="", address=address)
    return broker_at(stated, found, access) if stated is not None else found[0]


def broker_at(address: Address, brokers: Sequence[Broker], access: Access) -> Broker:
    """Return the one of *brokers* with *address*, or with the name reported there.

    It is the first one for a proxy, which reports none.
    """
    at_address = (one for one in brokers if one.address == address)
    if registered := next(at_address, None):
        return registered
    name, _ = names_of(address, access)
    return next((one for one in brokers if one.name == name), brokers[0])


def answered(address: Address, access: Access = OPEN) -> tuple[bool, bool, bool]:
    """Return whether a peer has the requests for a list, a route and a group.

    A name server has the first two, a proxy the last two, and a broker the last one.
    """
    try:
        with Client.connect(address, access=access) as client:
            responses = (
                client.cluster_info(),
                client.route(SELF_TEST_TOPIC),
                client.consumer_list(group="nobody"),
            )
    except NO_RESPONSE:
        return False, False, False
    has_list, has_routes, has_groups = (
        one.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED for one in responses
    )
    return has_list, has_routes, has_groups


def found_capabilities(broker: Address, access: Access) -> Iterator[Capability]:
    """Yield the capabilities that the port and the settings of a broker show.

    Users need a client with credentials. Policies name addresses of this machine.
    """
    if accepts(broker.host, broker.port + PORT_DISTANCE):
        yield Capability.REPLICATION
    if access.credentials is not None and broker.host == LOOPBACK:
        settings = settings_of(broker, access)
        if all(settings.get(name) == "true" for name in CHECKS_OF_ACCESS):
            yield Capability.ACL


def names_of(broker: Address, access: Access = OPEN) -> tuple[str, str]:
    """Return a broker's name and cluster from its settings; empty if it refuses."""
    settings = settings_of(broker, access)
    return settings.get("brokerName", ""), settings.get("brokerClusterName", "")


def names_in_route(proxy: Address, access: Access = OPEN) -> tuple[str, str]:
    """Return name and cluster of a broker behind *proxy*; empty if it has no route.

    A proxy forwards a request to the broker that its header names.
    """
    for topic in BROKERS_OWN_TOPICS:
        try:
            with Client.connect(proxy, access=access) as client:
                route = decode_route(require_success(client.route(topic)).body)
        except NO_RESPONSE:
            continue
        for data in route.broker_datas:
            return data.broker_name, data.cluster
    return "", ""


def settings_of(broker: Address, access: Access = OPEN) -> dict[str, str]:
    """Return the settings of a broker; none if it refuses."""
    try:
        with Client.connect(broker, access=access) as client:
            return client.broker_settings()
    except NO_RESPONSE:
        return {}


def brokers_in(cluster_info: object) -> list[Broker]:
    """Return the masters that the body of a cluster-info response lists."""
    table = _member(cluster_info, "brokerAddrTable")
    found = []
    for name, data in sorted(table.items(), key=lambda item: str(item[0])):
        addresses = _member(data, "brokerAddrs")
        master = addresses.get(MASTER_ID) or addresses.get(str(MASTER_ID))
        if isinstance(master, str):
            cluster = str(data.get("cluster", "")) if isinstance(data, Mapping) else ""
            address = Address.parse(master)
            found.append(Broker(name=str(name), cluster=cluster, address=address))
    return found


def _member(body: object, name: str) -> Mapping[object, object]:
    value = body.get(name) if isinstance(body, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def reported_release(broker: Address, access: Access = OPEN) -> str | None:
    """Return the release that the broker reports, or None."""
    try:
        with Client.connect(broker, access=access) as client:
            release = client.broker_release()
        release_key(release)
    except NO_RESPONSE:
        return None
    return release

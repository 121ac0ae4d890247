"""
Target: the peer that the suites examine, with its addresses and capabilities.

Its text form begins with its kind: ``embedded:``, ``HOST:PORT``, ``jvm:4.6.0``,
``docker:IMAGE``, ``cmd:target.toml``, ``mutant:ID``, ``store:/path``. A target that the
suite starts also ends with it, including processes, ports and files. Tests that need a
missing capability are counted as unsupported, never as passed.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Self
from urllib.parse import parse_qsl

from conformance.harness.client.access import (
    OPEN,
    SETTINGS,
    AccessError,
    access_of,
)
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client
from conformance.harness.process.context import Closing
from conformance.harness.releases import SERIES, STUDIED
from spec.clause import release_key


class Capability(StrEnum):
    """Something that a target may allow and a test may need."""

    WIRE = "wire"
    """The target has a listening socket."""
    STORE = "store"
    """The store's files can be read."""
    CONFIG = "config"
    """It can be started with settings of the test's choice."""
    RESTART = "restart"
    """It can be stopped in order and started again on the same store."""
    ACL = "acl"
    """It checks access by conf/plain_acl.yml of its home, or by users since 5.3."""
    TLS = "tls"
    """It encrypts as the Java properties tls.* in its settings state."""
    UNCHECKED_CLIENTS = "unchecked-clients"
    """It can require a client certificate without checking it."""
    KILL = "kill"
    """It can be killed as a power cut would."""
    REPLICATION = "replication"
    """A slave can copy its commit log, at the port after the broker's own."""
    CLOCK = "clock"
    """Its clock can be made to run faster."""
    CLIENT = "client"
    """It is a client, which an adapter drives."""


EVERYTHING = frozenset(Capability) - {Capability.CLIENT}
"""All capabilities of a broker."""
KINDS = {
    "embedded": "conformance.harness.targets.started.embedded:EmbeddedTarget",
    "mutant": "conformance.harness.targets.started.embedded:MutantTarget",
    "jvm": "conformance.harness.targets.started.jvm:JvmTarget",
    "store": "conformance.harness.targets.store_target:StoreTarget",
    "tcp": "conformance.harness.targets.running_cluster:RunningClusterTarget",
    "docker": "conformance.harness.targets.started.docker_target:DockerTarget",
    "cmd": "conformance.harness.targets.started.command_target:CommandTarget",
    "proxied": "conformance.mutating_proxy.proxied_target:proxied_target",
    "client": "conformance.harness.targets.client_target:ClientTarget",
    "client-mutant": "conformance.harness.targets.client_target:ClientMutantTarget",
    "wrong-client": "conformance.wrong_clients.wrong_client_target:WrongClientTarget",
}


CLIENT_KINDS = frozenset({"client", "client-mutant", "wrong-client"})
CLIENT = "client:"
"""Before the command that starts a client's adapter."""


class TargetError(Exception):
    """The target cannot be had: no verdict about any clause."""


class NoServerError(TargetError):
    """The target lacks a name server or a broker, which the test needs."""


class Target(Closing):
    """One peer under examination. Kinds override what they can do."""

    capabilities: frozenset[Capability] = frozenset()
    can_be_started = False
    """Whether it is started from here."""
    is_only_one = False
    """Whether no second target of the same text can run beside it."""
    is_foreign = False
    """Whether the release is unknown, so that the target is probed first."""
    may_state: tuple[str, ...] = ()
    """Addresses that the text may state, by the name of their setting."""

    def __init__(
        self,
        text: str,
        rest: str = "",
        conf: Mapping[str, str] | None = None,
        store: Path | None = None,
    ) -> None:
        self.text = text
        self.rest = rest
        """Rest of the text after the kind."""
        self.conf = dict(conf or {})
        self.access_settings = {
            key: self.conf.pop(key) for key in SETTINGS if key in self.conf
        }
        """Settings about credentials and TLS: files, never secrets."""
        self.stated = {
            key: self._address_of(key) for key in self.may_state if key in self.conf
        }
        """Addresses that the text states, which override the registered ones."""
        self.access = OPEN
        """Access of the clients that the suite connects."""
        self.release = "4.6.0"
        self.stated_release = ""
        """The release or series that target or profile state, such as 5.3.1 or 4.7, if
        it is not a studied one."""
        self.has_profile = False
        """Whether a profile sets the release, not the target itself."""
        self.release_source = ""
        """Sentence on the choice of the release, where the target did not state it."""
        self.namesrv: Address | None = None
        self.broker: Address | None = None
        self.admin: Address | None = None
        """Address for requests of administration, where it is not the broker's."""
        self.registered: Address | None = None
        """Address of the broker as registered, where the text states another one, that
        is not a proxy's."""
        self.broker_name = ""
        self.cluster = ""
        self.shares_name_server = False
        """Whether the name server may be shared with other targets; set it before the
        first start. Where the kind supports that, the name server survives a stop or
        kill. Most tests are about the broker, and a name server takes as long to
        start."""
        self.clock_rate = 1.0
        """Rate of its clock, in seconds for each second of the system's, with CLOCK."""
        self.store_path = store
        self.refuses: frozenset[int] = frozenset()
        """Codes of the requests that it is known to refuse as unknown to it."""
        self.has_late_routes = False
        """Whether the baseline waited for the route of a new topic, in vain."""
        self.use_access(self.access_settings)
        self._configure()

    def use_access(self, settings: Mapping[str, str]) -> None:
        """Connect with the credentials and the TLS of *settings* from now on."""
        self.access_settings = dict(settings)
        try:
            self.access = access_of(settings)
        except AccessError as error:
            raise TargetError(f"{self.text}: {error}") from None

    def _address_of(self, key: str) -> Address:
        try:
            return Address.parse(self.conf.pop(key))
        except ValueError as error:
            raise TargetError(f"{self.text}: {key}: {error}") from None

    def _configure(self) -> None:
        """Set the values that follow from the text and the settings.

        Raises TargetError for a text or a setting without a meaning.
        """

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def start(self) -> None:
        """Make the target reachable; returns when it is."""

    def stop(self) -> None:
        """Stop it in order; its store stays."""
        raise TargetError(f"{self.text} cannot be stopped from here")

    def kill(self) -> None:
        """Kill it as a power cut would; its store stays."""
        raise TargetError(f"{self.text} cannot be killed from here")

    def restart(self) -> None:
        """Stop it in order and start it again on the same store."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Give back everything: processes, ports, files. Closing twice is harmless."""

    def end_report(self) -> str:
        """Return exit status and last output of the programs that have ended."""
        return ""

    def connect_to_namesrv(self) -> Client:
        """Return a fresh connection to the name server."""
        if self.namesrv is None:
            raise NoServerError(f"{self.text} has no name server")
        return Client.connect(self.namesrv, self.release, self.access)

    def connect_to_broker(self) -> Client:
        """Return a fresh connection to the broker."""
        return Client.connect(
            self.broker_address(),
            self.release,
            self.access,
            broker_name=self.broker_name,
            storage=self.admin,
        )

    def connect_for_admin(self) -> Client:
        """Return a fresh connection for requests that create topics and groups."""
        address = self.admin or self.broker_address()
        return Client.connect(address, self.release, self.access)

    def broker_address(self) -> Address:
        """Return the address of the broker; NoServerError without a broker."""
        if self.broker is None:
            raise NoServerError(
                f"no broker is registered with {self.namesrv}"
                " (?broker=HOST:PORT states one)"
            )
        return self.broker


def is_client(text: str) -> bool:
    """Return whether the target of *text* is a client."""
    return text.partition(":")[0] in CLIENT_KINDS


def parse_target(
    text: str,
    *,
    profile: str | None = None,
    conf: Mapping[str, str] | None = None,
    store: Path | None = None,
) -> Target:
    """Return the target that *text* names, not yet started.

    *profile* overrides its release, *conf* adds settings, and *store* is an existing
    store directory to open, which is kept at the end.
    """
    try:
        text.encode()  # parts of a run send it to each other
    except UnicodeEncodeError:
        raise TargetError(f"{text} is not UTF-8; a link to it may be") from None
    kind, rest, settings = _split(text)
    module, _, name = KINDS[kind].partition(":")
    made = getattr(importlib.import_module(module), name)
    target = made(text, rest, {**settings, **(conf or {})}, store)
    assert isinstance(target, Target)
    if profile:
        target.release = release_of_profile(profile)
        target.has_profile = True
        if not f"{target.release}.".startswith(f"{profile}."):
            target.stated_release = profile
            target.release_source = f"the nearest studied release to {profile}"
    return target


def _split(text: str) -> tuple[str, str, dict[str, str]]:
    """Return kind, rest and settings of a target's text."""
    if text.startswith(CLIENT):  # a command may have any sign in it
        return "client", text.removeprefix(CLIENT), {}
    address, question, query = text.partition("?")
    settings = dict(parse_qsl(query, strict_parsing=True)) if question else {}
    kind, colon, rest = address.partition(":")
    if colon and kind in KINDS:
        return kind, rest, settings
    if address == "embedded":
        return "embedded", "", settings
    try:
        Address.parse(address)
    except ValueError:
        near = get_close_matches(kind, KINDS, n=1)
        known = ", ".join(f"{name}:" for name in KINDS)
        host, _, port = address.rpartition(":")
        advice = f"HOST:PORT or one of {known}"
        if near:
            advice = f"did you mean {near[0]}:?"
        elif host and port[:1].isdecimal():
            advice = f"the port {port} is not a number up to 65535"
        raise TargetError(f"{text!r} is not a target; {advice}") from None
    return "tcp", address, settings


def release_of_profile(profile: str, among: Sequence[str] = STUDIED) -> str:
    """Return the release *among* the studied ones that *profile*, as 4.6, stands for.

    A series between the studied ones, such as 4.7, stands for the nearest of them.
    """
    try:
        wanted = release_key(profile)
    except ValueError as error:
        raise TargetError(f"--profile: {error}") from None
    if not any(release_key(one)[: len(wanted[:2])] == wanted[:2] for one in SERIES):
        known = ", ".join(SERIES)
        raise TargetError(f"--profile: {profile} is not one of {known}")
    return nearest_release(profile, among)


def nearest_release(release: str, among: Sequence[str] = STUDIED) -> str:
    """Return the release *among* the studied ones that behaves most like *release*.

    It has the same major number, the nearest minor number, and the nearest patch, for
    a series counted from its end. Of two equally near ones it is the newer.
    """
    if release_key(release) > release_key(among[-1]):
        return among[-1]
    wanted = (*release_key(release), 0, 0)[:3]
    is_series = len(release_key(release)) < len(wanted)

    def distance(studied: str) -> tuple[int, ...]:
        parts = release_key(studied)
        apart = [abs(part - other) for part, other in zip(parts, wanted, strict=True)]
        if is_series:
            apart[2] = parts[2] if parts[:2] > wanted[:2] else -parts[2]
        return tuple(apart)

    return min(reversed(among), key=distance)

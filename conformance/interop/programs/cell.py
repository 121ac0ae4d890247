"""
A cell of the interop table: one client, one feature, one server; and what happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Self

from conformance.interop.handover.handover import REFERENCE
from conformance.interop.programs.features import NAMES, TOOL_FEATURES, feature
from conformance.interop.programs.other_clients import CLIENTS as OTHERS
from spec.clause import release_key

JAVA = "Java "
OWN = "reference client"
CLIENTS = (
    *(f"{JAVA}{release}" for release in ("4.4.0", "4.6.0", "4.9.7", "5.3.3")),
    *OTHERS,
    OWN,
)
SERVERS = (REFERENCE, "4.6.0", "5.3.3")
REAL = "4.6.0"
"""The server that the reference is to be like."""
SETTINGS = {
    "enablePropertyFilter": "true",
    # Retries begin at level 3: soon.
    "messageDelayLevel": "1s 1s 1s 2s",
    # Long enough for a slow producer to decide before the first check.
    "transactionTimeOut": "5000",
    "transactionCheckInterval": "1000",
}
"""Settings of every server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Outcome of a client's feature at a server."""

    client: str
    feature: str
    server: str
    outcome: Any = None

    @property
    def name(self) -> str:
        """Client, feature and server."""
        return f"{self.client}: {self.feature} at {self.server}"

    @property
    def as_expected(self) -> bool:
        """Whether what was to happen has happened."""
        return bool(self.outcome == expected(self.client, self.feature))

    def as_json(self) -> dict[str, object]:
        """Return it as it is recorded."""
        return asdict(self)

    @classmethod
    def from_json(cls, shown: dict[str, Any]) -> Self:
        """Return the recorded cell."""
        return cls(**shown)


def release_of_client(client: str) -> str | None:
    """Return the release of a Java client; None for another."""
    return client.removeprefix(JAVA) if client.startswith(JAVA) else None


def offers(client: str, name: str) -> bool:
    """Return whether a client has a feature, and a program of ours tries it."""
    if client == OWN:
        return name not in TOOL_FEATURES
    release = release_of_client(client)
    if release is None:
        return name in OTHERS[client].expected
    return release_key(release) >= release_key(feature(name).since)


def is_untried(client: str, name: str) -> bool:
    """Return whether a client has a feature that no program of ours tries."""
    return client in OTHERS and name in OTHERS[client].untried


def expected(client: str, name: str) -> object:
    """Return the expected outcome."""
    if client in OTHERS:
        return OTHERS[client].expected[name]
    return feature(name).expected


def all_cells() -> Iterator[Cell]:
    """Yield every cell that can be run, in the order of the page; without outcomes."""
    for server, client, name in product(SERVERS, CLIENTS, NAMES):
        if offers(client, name):
            yield Cell(client=client, feature=name, server=server)

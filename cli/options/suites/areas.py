"""Areas of clauses, the first words of ids, and families, ids without their numbers."""

from __future__ import annotations

from spec.clause import Clause

AREAS = {
    "WIRE": "Frames, headers and commands",
    "ROUTE": "Name server and routes",
    "STORE": "Store files",
    "INDEX": "Index files",
    "REC": "Recovery",
    "SEND": "Sending",
    "PULL": "Pulling",
    "POP": "Pop consumption",
    "LITE": "Lite topics",
    "OFFSET": "Offsets",
    "GROUP": "Groups and heartbeats",
    "TXN": "Transactions",
    "DELAY": "Delayed messages",
    "RETRY": "Retries and dead letters",
    "QUERY": "Queries",
    "HA": "Master and slave",
    "ADMIN": "Administration",
    "SEC": "Access control",
    "TLS": "TLS",
    "CLIENT": "Clients",
}
"""Title of each area of clauses, in the order of the site and of lists."""


def area_of(one: Clause) -> str:
    """Return the first word of a clause's id."""
    return one.id.partition("-")[0]


def family_of(one: Clause) -> str:
    """Return the id of a clause without its number."""
    return one.id.rpartition("-")[0]

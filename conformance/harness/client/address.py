"""Address of a peer: host and port."""

from __future__ import annotations

from ipaddress import IPv6Address
from typing import NamedTuple

LOOPBACK = "127.0.0.1"


class Address(NamedTuple):
    """A host name or number, and a port."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return the address that ``HOST:PORT`` (or ``[V6]:PORT``) names."""
        host, colon, port = text.rpartition(":")
        if not colon or not host or not port.isdecimal() or int(port) > 0xFFFF:
            raise ValueError(f"{text!r} is not HOST:PORT")
        return cls(host.strip("[]"), int(port))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def in_one_form(text: str) -> str:
    """Return an address as a peer writes it, with an IPv6 address as `Address` has it.

    Java writes its eight groups, until Java 13 without brackets. A slash may precede.
    """
    slash = text[: text.startswith("/")]
    host, _, port = text[len(slash) :].rpartition(":")
    try:
        address = IPv6Address(host.strip("[]"))
    except ValueError:
        return text
    return f"{slash}[{address}]:{port}"

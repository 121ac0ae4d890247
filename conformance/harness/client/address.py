"""Address of a peer: host and port."""

from __future__ import annotations

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

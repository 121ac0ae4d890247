"""
A host is an address and a port, as records, message ids and unique keys carry it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Host:
    """An IPv4 or IPv6 address and a port."""

    address: bytes
    """4 or 16 bytes, in network order."""
    port: int

    ANY_V4: ClassVar[Host]
    """0.0.0.0:0."""

    @classmethod
    def of(cls, address: str, port: int) -> Host:
        """Return the host of a numeric address such as ``127.0.0.1`` or ``::1``."""
        return cls(ip_address(address).packed, port)

    @property
    def is_v6(self) -> bool:
        """Whether the address is an IPv6 address."""
        return len(self.address) == 16

    def as_field(self) -> dict[str, bytes | int]:
        """Return the values of the two fields that a layout has for a host."""
        return {"address": self.address, "port": self.port}

    def __str__(self) -> str:
        return f"{_address_text(self.address)}:{self.port}"


@lru_cache(maxsize=1024)
def _address_text(address: bytes) -> str:
    """Return an address as text, cached: `ip_address` takes two microseconds."""
    found = ip_address(address)
    return str(found) if found.version == 4 else f"[{found}]"


Host.ANY_V4 = Host(bytes(4), 0)

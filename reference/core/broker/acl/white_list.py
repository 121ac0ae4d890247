"""Patterns of remote addresses (Java: RemoteAddressStrategyFactory)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

Address = IPv4Address | IPv6Address
Matcher = Callable[[Address], bool]
_EVERYTHING = {"*", "*.*.*.*", "*:*:*:*:*:*:*:*"}


def matcher_of(pattern: str) -> Matcher:
    """Return the test for addresses; raise ValueError for a malformed pattern."""
    pattern = pattern.strip()
    if not pattern:
        return lambda _: False  # [SEC-WHITE-009]
    if pattern in _EVERYTHING:
        return lambda _: True  # [SEC-WHITE-010]
    if pattern.endswith("}"):
        head, _, listed = pattern[:-1].partition("{")
        return _any_of(head + last for last in listed.split(","))  # [SEC-WHITE-007]
    if "," in pattern:
        return _any_of(pattern.split(","))  # [SEC-WHITE-008]
    if "*" in pattern or "-" in pattern:
        return _in_range(pattern)
    return _any_of([pattern])  # [SEC-WHITE-004]


def _any_of(texts: Iterable[str]) -> Matcher:
    addresses = frozenset(ip_address(text.strip()) for text in texts)
    return lambda address: address in addresses


def _in_range(pattern: str) -> Matcher:
    """Return the test for a pattern with a range; what follows the range is free."""
    is_v6 = ":" in pattern
    parts = pattern.split(":" if is_v6 else ".")
    ranges = [i for i, part in enumerate(parts) if part == "*" or "-" in part]
    if not ranges:
        raise ValueError(f"{pattern} is no range of addresses")
    index = ranges[0]
    base, largest = (16, 0xFFFF) if is_v6 else (10, 255)
    begin, dash, end = parts[index].partition("-")
    first, last = (int(begin, base), int(end, base)) if dash else (0, largest)
    if not 0 <= first <= last <= largest or any(p != "*" for p in parts[index + 1 :]):
        raise ValueError(f"{pattern} is no range of addresses")
    if is_v6:
        free = len(parts) - index
        filled = ":".join([*parts[:index], *["0"] * free])
        index = 8 - free
    else:
        filled = ".".join([*parts[:index], *["0"] * (4 - index)])
    head = _numbers(ip_address(filled))[:index]

    def matches(address: Address) -> bool:  # [SEC-WHITE-005] [SEC-WHITE-006]
        numbers = _numbers(address)
        is_below = len(numbers) > index and numbers[:index] == head
        return is_below and first <= numbers[index] <= last

    return matches


def _numbers(address: Address) -> list[int]:
    """Return the four numbers of an IPv4 address, or the eight of an IPv6 one."""
    if isinstance(address, IPv4Address):
        return list(address.packed)
    return [int(group, 16) for group in address.exploded.split(":")]

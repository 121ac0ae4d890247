"""
The accounts of plain_acl.yml, and its white lists (Java: PlainPermissionManager#load).

A malformed file is refused as a whole. Its errors name the place, and no value of the
file: a value may be a secret. A white list is a pattern of remote addresses (Java:
RemoteAddressStrategyFactory).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from msgspec import Struct

from reference.core.broker.acl.permissions import (
    Permission,
    permission_of,
    resource_of_group,
)
from spec.routing.topic_config import DataVersion
from spec.security.plain_acl import (
    ACCOUNTS,
    DATA_VERSION,
    KEY_LENGTH_MIN,
    WHITE_ADDRESSES,
)

Address = IPv4Address | IPv6Address
Matcher = Callable[[Address], bool]
_EVERYTHING = {"*", "*.*.*.*", "*:*:*:*:*:*:*:*"}  # [SEC-WHITE-011]
FILE_SIZE_MAX = 1024 * 1024
"""Characters of a file that is read: about ten thousand accounts."""


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
        is_below = (address.version == 6) is is_v6 and numbers[:index] == head
        return is_below and first <= numbers[index] <= last

    return matches


def _numbers(address: Address) -> list[int]:
    """Return the four numbers of an IPv4 address, or the eight of an IPv6 one."""
    if isinstance(address, IPv4Address):
        return list(address.packed)
    return [int(group, 16) for group in address.exploded.split(":")]


class AclFileError(ValueError):
    """The file is malformed."""


class Account(Struct, frozen=True, kw_only=True):
    """One account (Java: PlainAccessResource)."""

    access_key: str
    secret_key: str
    is_admin: bool
    is_white: Matcher
    topic_default: Permission
    group_default: Permission
    permissions: Mapping[str, Permission]
    """Permissions by topic, and by the retry topic of groups."""

    def __repr__(self) -> str:
        """Return a text without the secret key."""
        return f"Account({self.access_key!r})"


class Accounts(Struct, frozen=True, kw_only=True):
    """The content of the file."""

    by_access_key: Mapping[str, Account]
    white: Sequence[Matcher]
    version: DataVersion | None = None

    def is_white(self, address: Address) -> bool:
        """Return whether requests from *address* are not checked."""
        return any(matches(address) for matches in self.white)  # [SEC-WHITE-001]


def decode_accounts(text: str) -> Accounts:
    """Return the accounts in *text*; raise AclFileError if it is malformed."""
    read = decode_yaml(text)
    white = [_white(one, WHITE_ADDRESSES) for one in _texts(read, WHITE_ADDRESSES)]
    accounts = [_account(one) for one in _list(read, ACCOUNTS)]
    return Accounts(
        by_access_key={one.access_key: one for one in accounts},
        white=white,
        version=_version(read),
    )


def decode_yaml(text: str) -> dict[str, Any]:
    """Return the object in a YAML file; raise AclFileError if it has none."""
    # Imported late: a twentieth of a start without access control.
    import yaml

    if len(text) > FILE_SIZE_MAX:
        raise AclFileError(f"more than {FILE_SIZE_MAX} characters")
    try:
        read = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" in line {mark.line + 1}" if mark is not None else ""
        raise AclFileError(f"no YAML{place}") from None
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError):
        raise AclFileError("no YAML") from None
    if not isinstance(read, dict) or not read:
        raise AclFileError("no data")
    return read


def encode_yaml(content: Mapping[str, object]) -> str:
    """Return the text of a YAML file with *content*."""
    import yaml

    text: str = yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True)
    return text


def _version(read: Mapping[str, object]) -> DataVersion | None:
    listed = read.get(DATA_VERSION)
    if not isinstance(listed, list) or not listed or not isinstance(listed[0], dict):
        return None
    numbers = [listed[0].get(name) for name in ("counter", "timestamp")]
    counter, timestamp_ms = (one if type(one) is int else 0 for one in numbers)
    return DataVersion(counter=counter, timestamp_ms=timestamp_ms)


def _account(entry: object) -> Account:
    if not isinstance(entry, dict):
        raise AclFileError(f"{ACCOUNTS} has an entry that is no object")
    access_key, secret_key = _text(entry, "accessKey"), _text(entry, "secretKey")
    for name, key in (("accessKey", access_key), ("secretKey", secret_key)):
        if key is None or len(key) < KEY_LENGTH_MIN:  # [SEC-ACL-018]
            raise AclFileError(f"an {name} has less than {KEY_LENGTH_MIN} characters")
    assert access_key is not None
    assert secret_key is not None
    permissions = dict(_permissions(entry, "topicPerms"))
    for group, permission in _permissions(entry, "groupPerms"):
        permissions[resource_of_group(group)] = permission
    return Account(
        access_key=access_key,
        secret_key=secret_key,
        is_admin=(_text(entry, "admin") or "").lower() == "true",
        is_white=_white(_text(entry, "whiteRemoteAddress") or "", "whiteRemoteAddress"),
        topic_default=permission_of(_text(entry, "defaultTopicPerm")),
        group_default=permission_of(_text(entry, "defaultGroupPerm")),
        permissions=permissions,
    )


def _permissions(
    entry: Mapping[str, object], name: str
) -> Iterator[tuple[str, Permission]]:
    for text in _texts(entry, name):
        parts = [part for part in text.split("=") if part]
        if len(parts) != 2:
            raise AclFileError(f"an entry of {name} is not NAME=PERMISSION")
        yield parts[0].strip(), permission_of(parts[1])


def _white(pattern: str, name: str) -> Matcher:
    try:
        return matcher_of(pattern)
    except ValueError:
        raise AclFileError(f"{name} has a malformed address") from None


def _list(read: Mapping[str, object], name: str) -> list[object]:
    listed = read.get(name) or []
    if not isinstance(listed, list):
        raise AclFileError(f"{name} is no list")
    return listed


def _texts(read: Mapping[str, object], name: str) -> list[str]:
    return [_as_text(one, name) for one in _list(read, name)]


def _text(entry: Mapping[str, object], name: str) -> str | None:
    value = entry.get(name)
    return None if value is None else _as_text(value, name)


def _as_text(value: object, name: str) -> str:
    """Return a text, a number or a truth as text, as fastjson reads them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise AclFileError(f"{name} is no text")

"""Options and errors that producers and consumers of the C++ client share."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any

from rocketmq.exceptions import RocketMQException

from conformance.client.adapters.template import ClientError, Line, UnsupportedError

ANY = object()
"""Any value of an option is supported."""
_FIXED: dict[str, object] = {"vip": False, "latency": False}
"""Values of options that the client cannot change."""
_CODE = re.compile(r",error:(-?\d+),in file")
_instances = itertools.count(1)


def require_options(line: Line, supported: Mapping[str, object]) -> None:
    """Raise an error if *line* has an option that is not *supported*.

    It is called before a client is made, so that none is destroyed that never started.
    """
    for name, value in line.get("options", {}).items():
        if name in supported:
            allowed = supported[name]
            if allowed is not ANY and allowed != value:
                raise UnsupportedError(f"option {name} {value}")
        elif name not in _FIXED or _FIXED[name] != value:
            raise UnsupportedError(f"option {name} {value}")
    if "security_token" in line.get("options", {}).get("credentials", {}):
        raise UnsupportedError("no security token")


def set_options(line: Line, setters: Mapping[str, Callable[[Any], object]]) -> None:
    """Set those options of *line* that have a setter."""
    for name, value in line.get("options", {}).items():
        if name in setters:
            setters[name](value)


def instance_of(line: Line) -> bytes:
    """Return the instance name of a client: its own, unless one is given."""
    given = line.get("options", {}).get("instance_name")
    return str(given or f"instance-{next(_instances)}").encode()


def set_credentials(client: Any, given: Line) -> None:
    """Set access key and secret key."""
    client.set_session_credentials(given["access_key"], given["secret_key"], "")


def start(client: Any) -> None:
    """Start a producer or consumer; its exception is the client's."""
    try:
        client.start()
    except RocketMQException as error:
        raise client_error(str(error)) from None


def client_error(text: str, code: int | None = None) -> ClientError:
    """Return the client's exception as the suite expects it.

    The C functions give only the text of an exception, with its code, not its class.
    """
    found = _CODE.search(text)
    return ClientError("client", code or (int(found[1]) if found else None), text)

"""Violations of the protocol in lines of an adapter (docs/client_adapter.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KINDS = ("result", "error", "unsupported")


def response_error(verb: str, response: Mapping[str, Any]) -> str:
    """Return the violation in a response to *verb*; empty for a valid one.

    A member without a value counts as one that is not there, except `unsupported`,
    which the suite reads from its name. The content of a hello is checked elsewhere.
    """
    if verb == "hello":
        return ""
    given = [name for name in _KINDS if response.get(name) is not None]
    if "unsupported" in response and "unsupported" not in given:
        given.append("unsupported")
    if len(given) != 1:
        found = (
            f"with {' and '.join(given)}" if given else f"without {', '.join(_KINDS)}"
        )
        return f"it responded {found}"
    (name,) = given
    if name != "unsupported" and not isinstance(response[name], dict):
        return f"its {name} is not an object"
    return ""


def event_error(event: Mapping[str, Any]) -> str:
    """Return the violation in an event; empty for a valid one."""
    if event["event"] != "message":
        return ""
    if "consumer" not in event:
        return "its event lacks 'consumer'"
    if not isinstance(event.get("message"), dict):
        return "its event has no object 'message'"
    return ""

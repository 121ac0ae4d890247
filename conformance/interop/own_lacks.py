"""
What Java's clients offer and the reference's does not, each with the reason.

The two lists of features are equal but for these: nothing is left out in silence.
"""

from __future__ import annotations

from collections.abc import Mapping

OWN = "reference client"
"""How the tables call it."""

_TOOL = "a tool's: `rmqc admin` and the suites about brokers do it"

LACKS: Mapping[str, str] = {
    "query by id": _TOOL,
    "query by key": _TOOL,
    "query by unique key": _TOOL,
    "topics": _TOOL,
    "groups": _TOOL,
    "statistics": _TOOL,
    "cluster": _TOOL,
}

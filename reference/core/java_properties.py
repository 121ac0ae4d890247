"""
Java's properties files, as far as settings need them: ``name=value`` a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_SEPARATOR = re.compile("[=:]")


def read_properties(text: str) -> dict[str, str]:
    """Return the settings in *text*; comments and empty lines are passed over."""
    settings = {}
    for line in re.split(r"\r\n|\r|\n", text):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        name, _, value = _SEPARATOR.sub("=", stripped, count=1).partition("=")
        settings[name.strip()] = value.strip()
    return settings


def write_properties(settings: Mapping[str, object]) -> str:
    """Return *settings*, one a line."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())

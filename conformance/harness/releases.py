"""Releases of Apache RocketMQ that were studied, from ``releases.toml`` beside this."""

from __future__ import annotations

import tomllib
from pathlib import Path

from spec.clause import release_key

RELEASES_FILE = Path(__file__).with_name("releases.toml")
_FIRST_MINORS = {4: 4, 5: 0}
_LAST_MINORS = {4: 9}
"""The last one of a major release that gets no other."""


def _series(newest: str) -> tuple[str, ...]:
    major, minor = release_key(newest)[:2]
    ends = {**_LAST_MINORS, major: minor}
    return tuple(
        f"{one}.{minor}"
        for one, first in _FIRST_MINORS.items()
        for minor in range(first, ends[one] + 1)
    )


_TABLE = tomllib.loads(RELEASES_FILE.read_text(encoding="utf-8"))
STUDIED: tuple[str, ...] = tuple(_TABLE["studied"])
"""Releases that were studied; a profile such as 4.6 means the one of its series."""
PINNED: tuple[str, ...] = tuple(_TABLE["pinned"])
"""Releases that can be started: their jars are pinned."""
SERIES = _series(STUDIED[-1])
"""Series of releases that a profile may name."""

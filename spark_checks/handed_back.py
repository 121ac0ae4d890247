"""
What each group handed back, and what was given up on: retries and dead letters.

A broker keeps them in two topics of the group's name. What is counted is what these
topics hold now; a message that was handed back three times is there three times.
"""

from __future__ import annotations

from collections.abc import Mapping

from spark_checks.digest import Digest
from spec.wire.groups import DEAD_LETTER_PREFIX, RETRY_PREFIX

COUNTED = {RETRY_PREFIX: "retries", DEAD_LETTER_PREFIX: "dead_letters"}


def handed_back_of(seen: Digest) -> Mapping[str, Mapping[str, int]]:
    """Return the retries and dead letters of each group that has any."""
    found: dict[str, dict[str, int]] = {}
    for (topic, _), queue in sorted(seen.units.items()):
        for prefix, name in COUNTED.items():
            if topic.startswith(prefix) and queue.matched_count:
                counts = found.setdefault(
                    topic.removeprefix(prefix), dict.fromkeys(COUNTED.values(), 0)
                )
                counts[name] += queue.matched_count
    return dict(sorted(found.items()))

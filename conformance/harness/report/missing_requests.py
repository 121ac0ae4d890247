"""
Requests that a target lacks, and the clauses that have no verdict without them.

The author of a broker finds the next request to implement there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.report_json import ClauseEntry
from spec.wire.remoting.request_code import RequestCode

_REFUSES = re.compile(r"the target refuses the request ([A-Z][A-Z0-9_, ]+)")
_LACKS = re.compile(
    r"(?:blocked by [A-Z0-9-]+, )?([A-Z][A-Z0-9_]+): refused with code 3\b"
)
WITHOUT_VERDICT = (Outcome.BLOCKED, Outcome.UNSUPPORTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingRequest:
    """A request that the target lacks."""

    name: str
    alone: int
    """Clauses that lack only this request."""
    together: int
    """Clauses that lack others, too."""


def missing_requests(results: Iterable[ClauseEntry]) -> list[MissingRequest]:
    """Return the requests that *results* lack, the one with most clauses first."""
    alone: Counter[str] = Counter()
    together: Counter[str] = Counter()
    for result in results:
        if result.outcome in WITHOUT_VERDICT:
            names = requests_in(result.reason or "")
            (alone if len(names) == 1 else together).update(names)
    found = [
        MissingRequest(name=name, alone=alone[name], together=together[name])
        for name in alone | together
    ]
    return sorted(found, key=lambda one: (-one.alone, -one.together, one.name))


def requests_in(reason: str) -> list[str]:
    """Return the names of the lacking requests that *reason* contains, each once."""
    refuses, lacks = _REFUSES.match(reason), _LACKS.match(reason)
    found = refuses or lacks
    names = found[1].split(", ") if found else []
    return [name for name in dict.fromkeys(names) if name in RequestCode.__members__]

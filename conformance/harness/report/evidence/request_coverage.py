"""
Coverage of the request codes: each has clauses, or a reason why it has none.

The codes are those of the header tables in ``fixtures/headers``, so a new release shows
its new codes as missing entries of ``fixtures/headers/requests.toml``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.harness.header_tables import (
    TABLES,
    requests_of,
    requests_of_releases,
)

ENTRIES_FILE = TABLES / "requests.toml"


def request_entries() -> Sequence[Mapping[str, Any]]:
    """Return the entries: code, name, and clauses or a reason."""
    entries = tomllib.loads(ENTRIES_FILE.read_text(encoding="utf-8"))["request"]
    assert isinstance(entries, list)
    return entries


def requests_without_entry(release: str) -> list[str]:
    """Return the names of requests of *release* without clauses or a reason."""
    known = {(one["code"], one["name"]) for one in request_entries()}
    return [name for code, name in requests_of(release) if (code, name) not in known]


def coverage_as_json() -> str:
    """Return all entries, and for each release how many of its codes have which."""
    entries = {(one["code"], one["name"]): one for one in request_entries()}
    releases = {
        release: {
            "codes": len(codes),
            "with_clauses": sum("clauses" in entries.get(one, ()) for one in codes),
            "with_reason": sum("reason" in entries.get(one, ()) for one in codes),
            "without_entry": requests_without_entry(release),
        }
        for release, codes in sorted(requests_of_releases().items())
    }
    shown = {"releases": releases, "requests": list(entries.values())}
    return json.dumps(shown, indent=1) + "\n"

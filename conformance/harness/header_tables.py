"""
Request codes of the studied releases, from the header tables in ``fixtures/headers``.

A server of a release may leave a request unanswered that this release does not have.
Tests about many requests send only those of the release under test.
"""

from __future__ import annotations

import json
from functools import cache

from conformance.harness.targets.started.embedded import SOURCES
from spec.clause import release_key
from spec.wire.headers.header_table import read_table

TABLES = SOURCES / "fixtures" / "headers"

Request = tuple[int, str]
"""Code and name of a request."""


def requests_of_releases() -> dict[str, list[Request]]:
    """Return the requests of each studied release, by code."""
    return {file.stem: requests_of(file.stem) for file in TABLES.glob("[0-9]*.json")}


@cache
def requests_of(release: str) -> list[Request]:
    """Return the requests in the header table of the studied *release*."""
    text = (TABLES / f"{release}.json").read_text(encoding="utf-8")
    return sorted((one.code, one.name) for one in read_table(json.loads(text)).requests)


def known_codes(release: str) -> frozenset[int]:
    """Return the codes of the newest studied release that is not after *release*."""
    studied = sorted(requests_of_releases(), key=release_key)
    before = [one for one in studied if release_key(one) <= release_key(release)]
    newest = before[-1] if before else studied[0]
    return frozenset(code for code, _ in requests_of(newest))

"""
Check changes of headers and codes in newer releases against the rules.

The checks compare the header tables of two releases (``header_table``), or examine one
table alone, and report what breaks a rule of ``header_rules``. A header is compared
with the class of the same name, and with the class that its request carried before.
The harm of a finding is for people to decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from spec.clause import Clause, release_key
from spec.wire.headers.field_changes import (
    DECIMALS,
    TRUTHS,
    WHOLE_NUMBERS,
    alike,
    field_changes,
)
from spec.wire.headers.header_rules import (
    CODE_FITS,
    CODEC_IS_WHOLE,
    COMPACT_CODE_MAX,
    NOT_REMOVED,
    NOT_REUSED,
    TYPE_IS_READABLE,
    Finding,
)
from spec.wire.headers.header_table import (
    Field,
    Header,
    HeaderTable,
    HeaderUse,
    Request,
    Response,
)

SPELLING = 0.8
"""Similarity from which on two names of one code are two spellings."""

READABLE = frozenset({*WHOLE_NUMBERS, *DECIMALS, *TRUTHS, "String", "BoundaryType"})
"""Types that a receiver makes of text (Java: decodeCommandCustomHeader)."""


def history_of_changes(tables: Iterable[HeaderTable]) -> list[Finding]:
    """Return the violations of each table against the previous one."""
    ordered = sorted(tables, key=lambda one: release_key(one.release))
    return [one for pair in pairwise(ordered) for one in changes(*pair)]


def changes(old: HeaderTable, new: HeaderTable) -> list[Finding]:
    """Return the violations in *new* that *old* did not have."""
    before = {(one.rule.id, one.subject) for one in faults(old)}
    found = [
        *_removed_and_reused(old, new, old.requests, new.requests),
        *_removed_and_reused(old, new, old.responses, new.responses),
        *(
            _about(rule, now, field, text, old, new)
            for was, now in _pairs(old, new)
            for field, rule, text in field_changes(was, now, old.release)
        ),
        *(
            replace(one, old=old.release)
            for one in faults(new)
            if (one.rule.id, one.subject) not in before
        ),
    ]
    return sorted(found, key=lambda one: (one.rule.id, one.subject))


def faults(table: HeaderTable) -> list[Finding]:
    """Return the violations within one release."""
    codes: list[Request | Response] = [*table.requests, *table.responses]
    found = [
        Finding(
            rule=CODE_FITS,
            subject=one.name,
            old=None,
            new=table.release,
            text=f"{one.code} becomes {one.code % 2**16} in a ROCKETMQ header",
        )
        for one in codes
        if one.code > COMPACT_CODE_MAX
    ]
    for header in table.headers.values():
        for field in header.fields:
            for rule, text in _own_faults(header, field):
                found.append(_about(rule, header, field.name, text, None, table))
    return sorted(found, key=lambda one: (one.rule.id, one.subject))


def _own_faults(header: Header, field: Field) -> Iterator[tuple[Clause, str]]:
    codec = header.fast_codec
    if field.java_type not in READABLE:
        yield TYPE_IS_READABLE, f"a receiver does not read a {field.java_type} from it"
    if codec is not None and field.name not in codec.writes & codec.reads:
        yield CODEC_IS_WHOLE, "the header's own code does not write and read it"


def _about(
    rule: Clause,
    header: Header,
    field: str,
    text: str,
    old: HeaderTable | None,
    new: HeaderTable,
) -> Finding:
    """Return a finding about one field, with the requests that it concerns."""
    return Finding(
        rule=rule,
        subject=f"{header.name}.{field}",
        old=None if old is None else old.release,
        new=new.release,
        text=text,
        codes=tuple(_carriers(header.name, new)),
    )


def _carriers(header: str, table: HeaderTable) -> Iterator[str]:
    """Yield the requests that carry a header, or whose responses do."""
    for request in table.requests:
        if any(use.name == header for use in request.carried):
            yield request.name
        if any(use.name == header for use in request.responses):
            yield f"response to {request.name}"


def _pairs(old: HeaderTable, new: HeaderTable) -> Iterator[tuple[Header, Header]]:
    """Yield each header of *new* with what stood in its place before, once."""
    pairs = {(name, name) for name in old.headers if name in new.headers}
    for now in new.requests:
        was = old.request(now.code)
        if was is not None and _is_used(was):
            pairs |= _replaced(was.carried, now.carried, old)
            pairs |= _replaced(was.responses, now.responses, old)
    for was_name, now_name in sorted(pairs):
        header = new.headers[now_name]
        if not header.abstract:
            yield old.headers.get(was_name, Header(name=now_name)), header


def _replaced(
    was: Sequence[HeaderUse], now: Sequence[HeaderUse], old: HeaderTable
) -> set[tuple[str, str]]:
    """Return the first header of a request before and after, if it is another now."""
    if not now or now[0].name in old.headers:
        return set()
    return {(was[0].name if was else "", now[0].name)}


def _is_used(request: Request) -> bool:
    """Return whether any code of the release sends or handles the request."""
    return bool(request.handled_in or request.paths)


def _removed_and_reused(
    old: HeaderTable,
    new: HeaderTable,
    was: Sequence[Request | Response],
    now: Sequence[Request | Response],
) -> Iterator[Finding]:
    """Yield codes that are gone, mean something else or have another number."""
    names, numbers = defaultdict(set), {one.name: one.code for one in now}
    for one in now:
        names[one.code].add(one.name)
    for before in was:
        problem = None
        likeness = max((alike(before.name, n) for n in names[before.code]), default=0)
        if numbers.get(before.name, before.code) != before.code:
            problem = NOT_REUSED, f"is {numbers[before.name]}, was {before.code}"
        elif names[before.code] and likeness < SPELLING:
            other = " or ".join(sorted(names[before.code]))
            problem = NOT_REUSED, f"its number, {before.code}, means {other}"
        elif not names[before.code] and _is_known(before):
            problem = NOT_REMOVED, f"{before.code} is gone"
        if problem:
            yield Finding(
                rule=problem[0],
                subject=before.name,
                old=old.release,
                new=new.release,
                text=problem[1],
            )


def _is_known(code: Request | Response) -> bool:
    """Return whether a peer may need the code."""
    return isinstance(code, Response) or _is_used(code)

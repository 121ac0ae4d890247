"""
The page docs/profiles.md: what a peer of each profile must, should and may do.

A profile is the set of clauses that apply to a release. ``rmqc report pages`` writes
the page from the clauses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from conformance.harness.releases import SERIES
from conformance.harness.targets.target import release_of_profile
from spec.clause import Clause, Level
from spec.registry import all_clauses
from spec.wire.remoting.request_code import RequestCode

PROFILES = ("4.6", "4.9", "5.3", "5.4", "5.5")
"""The profiles on the page; ``--profile`` accepts each of SERIES."""

_HEAD = f"""\
# Profiles

A profile is the set of clauses that apply to one release. `rmqc test --profile 5.3`
tests a target by the clauses of 5.3.3, whichever release the target reports.
`--profile` accepts
{", ".join(SERIES)},
each for its nearest studied release. Any other profile is an error, with this list.

- MUST: every tested release does this, and peers break without it.
- SHOULD: every tested release does this, and peers can live without it.
- MAY: allowed; nothing relies on it.
- QUIRK: surprising, but the releases of the profile do it, and peers may depend on it.

`rmqc spec list --release 5.3 --level MUST` prints the sentences. A target file names in
`refuses` the requests that its broker does not have. The tests that need them are
*unsupported*, and the run reports the requests once.
"""


def page() -> str:
    """Return the page."""
    blocks = [_HEAD, "## Clauses by level\n", _lines(_totals())]
    blocks += ["## Clauses by family\n", _FAMILIES, _lines(_families())]
    for before, now in pairwise(PROFILES):
        blocks += [f"## From {before} to {now}\n", _lines(_changes(before, now))]
    return "\n".join(blocks)


_FAMILIES = "MUST / SHOULD / MAY / QUIRK; a dot is a family without a clause.\n"


def clauses_of(profile: str) -> list[Clause]:
    """Return the clauses of *profile*, in the order of their ids."""
    release = release_of_profile(profile)
    return [one for one in all_clauses().values() if one.applies_to(release)]


def requests_of(profile: str) -> list[RequestCode]:
    """Return the requests that the release of *profile* has, by code."""
    release = release_of_profile(profile)
    return sorted(one for one in RequestCode if one.is_in(release))


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _totals() -> Iterator[str]:
    yield f"| profile | release | {' | '.join(Level)} | all | requests |"
    yield "|---|---|" + "--:|" * (len(Level) + 2)
    for profile in PROFILES:
        clauses = clauses_of(profile)
        counts = Counter(one.level for one in clauses)
        levels = " | ".join(str(counts[level]) for level in Level)
        whole = f"{len(clauses)} | {len(requests_of(profile))}"
        yield f"| {profile} | {release_of_profile(profile)} | {levels} | {whole} |"


def _families() -> Iterator[str]:
    sets = [{one.id for one in clauses_of(profile)} for profile in PROFILES]
    yield f"| family | {' | '.join(PROFILES)} |"
    yield "|---|" + "--:|" * len(PROFILES)
    for family, ids in groupby(all_clauses(), lambda name: name.rpartition("-")[0]):
        names = list(ids)
        cells = [_cell([one for one in names if one in applying]) for applying in sets]
        yield f"| {family} | {' | '.join(cells)} |"


def _cell(names: Sequence[str]) -> str:
    counts = Counter(all_clauses()[name].level for name in names)
    return " / ".join(str(counts[level]) for level in Level) if names else "·"


def _changes(before: str, now: str) -> Iterator[str]:
    old = {one.id: one for one in clauses_of(before)}
    new = {one.id: one for one in clauses_of(now)}
    had, has = requests_of(before), requests_of(now)
    for what, added in (
        ("Requests added", [one for one in has if one not in had]),
        ("Requests removed", [one for one in had if one not in has]),
    ):
        if added:
            yield f"{what}: {', '.join(f'{one.name} ({one:d})' for one in added)}.\n"
    for what, clauses in (
        (f"Clauses that begin ({len(new.keys() - old.keys())})", _without(new, old)),
        (f"Clauses that end ({len(old.keys() - new.keys())})", _without(old, new)),
    ):
        yield f"### {what}\n"
        yield from (f"- **{one.id}** ({one.level}): {one.text}" for one in clauses)
        yield ""


def _without(some: dict[str, Clause], others: dict[str, Clause]) -> list[Clause]:
    return [one for name, one in some.items() if name not in others]

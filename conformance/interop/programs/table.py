"""
The page docs/interop.md: what each client can do at each server, and why not.

``rmqc report interop -o docs/interop.md`` runs the cells that are not recorded yet and
writes the page anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from conformance.interop.programs.cell import (
    CLIENTS,
    OWN,
    SERVERS,
    Cell,
    is_untried,
    offers,
)
from conformance.interop.programs.features import FEATURES, NAMES, TOOL_FEATURES
from conformance.interop.programs.reasons import REASONS, reason_for
from spec.registry import clause

WORKS, FOUND, MISSING = "✓", "✗", "not run"
LACKS, UNTRIED = "not offered", "not tried"

_HEAD = """\
# Real clients and what they can do

Clients as they are published, unmodified, at the reference and at real releases. Each
feature is a small program with its own topics and groups. Its outcome is compared with
the expected one, which is the same at every server. This page is written by

    rmqc report interop -o docs/interop.md

from the cells that are recorded in `conformance/interop/programs/feature_cells.json`.
Missing cells are run first (`tox -e clients` installs the C++ client). Java is the
client of that release. Java's clients and the reference's client (docs/client.md) run
the same programs through their adapters (docs/client_adapter.md). Features of Java's
admin tools call DefaultMQAdminExt through py4j. C++ is the client of Apache, from the
package `rocketmq` 0.4.4 of PyPI; Node is `ali-ons` 3.12.0 of npm. The release of the
reference is 4.6.0.
"""
_LEGEND = f"""\
`{WORKS}`: the expected outcome. A number is a note below with the reason for another
outcome. `{LACKS}`: the client does not have the feature. `{UNTRIED}`: it has, but there
is no program for it. `{MISSING}`: not recorded yet. `{FOUND}`: another outcome without
a reason.
"""


def page(cells: Mapping[str, Cell]) -> str:
    """Return the page that shows *cells*."""
    blocks = [_HEAD, _LEGEND]
    for server in SERVERS:
        words = server if server == SERVERS[0] else f"Apache RocketMQ {server}"
        blocks.append(f"## At the server: {words}\n")
        blocks.append("\n".join(_matrix(cells, server)) + "\n")
    blocks += [f"## Not offered by the {OWN}\n", "\n".join(_lacks()) + "\n"]
    blocks += ["## Notes\n", "\n".join(_notes()) + "\n"]
    if unexplained := list(_unexplained(cells)):
        blocks += ["## Not explained\n", "\n".join(unexplained) + "\n"]
    blocks += ["## The features\n", "\n".join(_features()) + "\n"]
    blocks.append(_totals(cells) + "\n")
    return "\n".join(blocks)


def _matrix(cells: Mapping[str, Cell], server: str) -> Iterator[str]:
    yield "| feature | " + " | ".join(CLIENTS) + " |"
    yield "|---" * (len(CLIENTS) + 1) + "|"
    for name in NAMES:
        row = [shown(cells, client, name, server) for client in CLIENTS]
        yield f"| {name} | " + " | ".join(row) + " |"


def shown(cells: Mapping[str, Cell], client: str, name: str, server: str) -> str:
    """Return the few characters that the table has for a cell."""
    if not offers(client, name):
        return UNTRIED if is_untried(client, name) else LACKS
    cell = cells.get(Cell(client=client, feature=name, server=server).name)
    if cell is None:
        return MISSING
    if cell.as_expected:
        return WORKS
    reason = reason_for(cell)
    return FOUND if reason is None else str(REASONS.index(reason) + 1)


def _lacks() -> Iterator[str]:
    yield "Features of Java's admin tools; `rmqc admin` has these for the reference:"
    yield ""
    yield from (f"- {name}" for name in NAMES if name in TOOL_FEATURES)


def _notes() -> Iterator[str]:
    for number, reason in enumerate(REASONS, start=1):
        yield f"{number}. {reason.text}"
        for name in reason.clauses:
            yield f"   - {name}: {clause(name).text}"
        if reason.source:
            yield f"   - {reason.source}"


def _unexplained(cells: Mapping[str, Cell]) -> Iterator[str]:
    for cell in cells.values():
        if not cell.as_expected and reason_for(cell) is None:
            yield f"- {cell.name}: {cell.outcome}"


def _features() -> Iterator[str]:
    yield "| feature | program | since |"
    yield "|---|---|---|"
    for one in FEATURES:
        yield f"| {one.name} | {one.about} | {one.since} |"


def _totals(cells: Mapping[str, Cell]) -> str:
    counts = Counter(cell.as_expected for cell in cells.values())
    return f"{len(cells)} cells: {counts[True]} as expected, {counts[False]} otherwise."

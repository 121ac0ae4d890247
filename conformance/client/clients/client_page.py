"""
The page docs/clients.md: each clause about clients, on each client, and why not.

``rmqc report clients -o docs/clients.md`` runs the suite on the clients that are not
recorded, and writes the page anew.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance.client.clients.client_run import CLIENTS, Cell, ClientRun, shown_json
from conformance.harness.report.pages.rendering import SYMBOLS
from spec.registry import all_clauses

FILE = Path(__file__).with_name("client_runs.json")
"""Recorded runs of clients."""
GREEN = frozenset({"pass", "not-applicable"})
NOT_RUN = "·"

_HEAD = """\
# Clients, clause by clause

The suite for clients plays the name servers and the brokers, and drives each client
through its adapter ([client_adapter.md](client_adapter.md) says how to put yours under
test). This page is written by

    rmqc report clients -o docs/clients.md

from what is recorded in `conformance/client/clients/client_runs.json`; `--again NAME`
runs the suite on a client again. What a client is known not to meet stands, with a
reason, in the file of its name beside that. The clauses about clients are those of
4.6.0, read from the Java client; where it does not meet one, the clause is wrong or
that client has a defect. [client_defects.md](client_defects.md) has the defects, each
with the least that shows it.

`✓` passes. `k` is known not to be met, `✗` is not met, `?` could not be judged, `!` the
suite or the adapter failed, `–` is about other releases, `·` no test ran. Every cell
that is not green is explained below the table.
"""


def recorded(file: Path = FILE) -> dict[str, ClientRun]:
    """Return the runs that *file* holds, by client."""
    if not file.exists():
        return {}
    runs = [ClientRun.from_json(one) for one in json.loads(file.read_text("utf-8"))]
    return {one.name: one for one in runs}


def keep(runs: Mapping[str, ClientRun], file: Path = FILE) -> None:
    """Write *runs* in the order of the page, whole or not at all."""
    ordered = {one.name: runs[one.name] for one in CLIENTS if one.name in runs}
    beside = file.with_suffix(".tmp")
    beside.write_text(shown_json(ordered), encoding="utf-8")
    beside.replace(file)


def page(runs: Mapping[str, ClientRun]) -> str:
    """Return the page that shows *runs*."""
    blocks = [_HEAD, "\n".join(_totals(runs)) + "\n", "\n".join(_matrix(runs)) + "\n"]
    for name, one in runs.items():
        lines = list(_explained(one))
        if lines:
            blocks += [
                f"## {name}: cells that are not green\n",
                "\n".join(lines) + "\n",
            ]
    return "\n".join(blocks)


def _totals(runs: Mapping[str, ClientRun]) -> Iterator[str]:
    yield "| client | profile | date | " + " | ".join(SYMBOLS[one] for one in _KINDS)
    yield "|---|---|---|" + "---|" * len(_KINDS)
    for name, one in runs.items():
        counts = Counter(cell.outcome for cell in one.cells)
        lines = " | ".join(str(counts[kind]) for kind in _KINDS)
        yield f"| {name} | {one.release} | {one.date} | {lines} |"


_KINDS = ("pass", "known", "fail", "unsupported", "error", "not-applicable")


def _matrix(runs: Mapping[str, ClientRun]) -> Iterator[str]:
    yield "| clause | what it says | " + " | ".join(runs) + " |"
    yield "|---|---|" + "---|" * len(runs)
    cells = {
        name: {cell.clause: cell for cell in one.cells} for name, one in runs.items()
    }
    for clause in sorted({name for one in cells.values() for name in one}):
        found = [cells[name].get(clause) for name in runs]
        lines = " | ".join(SYMBOLS[cell.outcome] if cell else NOT_RUN for cell in found)
        text = all_clauses()[clause].text if clause in all_clauses() else ""
        yield f"| {clause} | {text.replace('|', '&#124;')} | {lines} |"


def _explained(one: ClientRun) -> Iterator[str]:
    for cell in one.cells:
        if cell.outcome not in GREEN:
            yield f"- `{SYMBOLS[cell.outcome]}` **{cell.clause}**: {_remark(cell)}"


def _remark(cell: Cell) -> str:
    return " ".join(cell.detail.split()) or "the suite reports no more"

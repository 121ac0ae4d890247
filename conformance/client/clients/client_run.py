"""
The clients that the project itself tests, and a run of the suite on one of them.

Each has an adapter and a file of its known failures, with reasons. The run is
``rmqc test-client``, as a user starts it. Its report becomes a row of
cells, one for each clause.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

from conformance.harness.report.known_failures import load_known
from conformance.harness.report.report import read_report
from conformance.harness.report.report_json import ClauseEntry, Report
from conformance.harness.targets.started.embedded import SOURCES
from rocketmq_conformance.paths import module_command
from spec.registry import all_clauses

KNOWN = Path(__file__).parent
HELLO_TIMEOUT_S = 300
"""Timeout of the first hello: the adapter may have to download its client."""
_ADAPTERS = "conformance.client.adapters"


class ClientRunError(Exception):
    """The suite did not run on a client."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client with an adapter."""

    name: str
    adapter: str

    @property
    def known(self) -> Path:
        """The file of its known failures."""
        short = self.name.lower().replace(" ", "-").replace("+", "p")
        return KNOWN / f"{short}.toml"


def _client(name: str, module: str, *words: str) -> Client:
    """Return the client whose adapter is *module*, run by this Python."""
    return Client(name, shlex.join(module_command(module, *words)))


CLIENTS = (
    _client("Java 4.6.0", f"{_ADAPTERS}.java", "4.6.0"),
    _client("Java 4.9.7", f"{_ADAPTERS}.java", "4.9.7"),
    _client("Java 5.3.3", f"{_ADAPTERS}.java", "5.3.3"),
    _client("Java 5.4.0", f"{_ADAPTERS}.java", "5.4.0"),
    _client("C++ librocketmq", f"{_ADAPTERS}.cpp"),
    _client("Go 2.1.2", f"{_ADAPTERS}.go"),
    _client("Node ali-ons", f"{_ADAPTERS}.node"),
    _client("Rust 1.0.0", f"{_ADAPTERS}.rust"),
    _client("reference", "reference.shell.adapter.adapter"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Outcome of one clause."""

    clause: str
    outcome: str
    detail: str = ""
    """Why it is not green: the reason that is known, or what the suite found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRun:
    """The suite on one client."""

    name: str
    release: str
    date: str
    cells: tuple[Cell, ...]

    def as_json(self) -> Mapping[str, object]:
        """Return it as it is recorded."""
        return asdict(self)

    @classmethod
    def from_json(cls, shown: Mapping[str, Any]) -> Self:
        """Return the run recorded as *shown*."""
        cells = tuple(Cell(**one) for one in shown["cells"])
        return cls(**{**shown, "cells": cells})

    @classmethod
    def of_report(cls, name: str, report: Report) -> Self:
        """Return the run on the client *name* that is in *report*."""
        return cls(
            name=name,
            release=report.target.release,
            date=report.at[:10],
            cells=tuple(_cell(one) for one in report.results),
        )

    def renewed(self, later: ClientRun, only: str) -> ClientRun:
        """Return this, with the cells of a *later* run of *only* some clauses."""
        wanted = [word.strip().upper() for word in only.split(",")]
        new = {
            cell.clause: cell
            for cell in later.cells
            if any(fnmatchcase(cell.clause, word) for word in wanted)
        }
        cells = {**{cell.clause: cell for cell in self.cells}, **new}
        kept = [cells[clause] for clause in sorted(cells.keys() & all_clauses().keys())]
        return replace(later, cells=tuple(kept))


def run(
    client: Client, *, jobs: int | None = None, only: str | None = None
) -> ClientRun:
    """Run the suite on *client*, or *only* the tests of some clauses."""
    with tempfile.TemporaryDirectory(prefix="client-run-") as folder:
        words = module_command("cli", "test-client")
        words += ["--adapter", client.adapter, "--report", folder]
        words += ["--hello-timeout-s", str(HELLO_TIMEOUT_S)]
        if client.known.exists():
            words += ["--known", str(client.known)]
        if only is not None:
            words += ["--only", only]
        if jobs is not None:
            words += ["--jobs", str(jobs)]
        ended = subprocess.run(
            words, cwd=SOURCES, capture_output=True, text=True, check=False
        )
        file = Path(folder, "report.json")
        if not file.exists():
            tail = (ended.stdout + ended.stderr)[-2000:]
            raise ClientRunError(f"{client.name}: {tail}")
        return ClientRun.of_report(client.name, read_report(file))


def reasoned(client_run: ClientRun, client: Client) -> ClientRun:
    """Return *client_run*, its failures known that are in the client's file by now."""
    if not client.known.exists():
        return client_run
    reasons = {one.clause: one.reason for one in load_known(client.known)}
    cells = tuple(
        replace(cell, outcome="known", detail=reasons[cell.clause])
        if cell.outcome == "fail" and cell.clause in reasons
        else cell
        for cell in client_run.cells
    )
    return replace(client_run, cells=cells)


def _cell(result: ClauseEntry) -> Cell:
    found = result.failure.text if result.failure else ""
    return Cell(
        clause=result.id,
        outcome=result.outcome.value,
        detail=result.reason or _found(found),
    )


def _found(failure: str) -> str:
    """Return the found and expected values in a failure's text."""
    words = ("got ", "expected ")
    lines = (line.strip() for line in failure.splitlines())
    client_run = [" ".join(line.split()) for line in lines if line.startswith(words)]
    return "; ".join(client_run) or failure.partition("\n")[0]


def shown_json(runs: Mapping[str, ClientRun]) -> str:
    """Return *runs* as a file has them: a run after the other, a cell a line."""
    blocks = []
    for one in runs.values():
        client_run = dict(one.as_json())
        cells = client_run.pop("cells")
        assert isinstance(cells, list | tuple)
        lines = ",\n".join(
            f"  {json.dumps(cell, ensure_ascii=False)}" for cell in cells
        )
        head = json.dumps(client_run, ensure_ascii=False)[:-1]
        blocks.append(f'{head}, "cells": [\n{lines}\n]}}')
    return "[\n" + ",\n".join(blocks) + "\n]\n"

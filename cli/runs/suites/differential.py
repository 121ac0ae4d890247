"""``rmqc test --target A --against B``: the same programs to two targets."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from cli.options.exit_codes import FINDINGS, NOT_RUN, SUCCESS, fail
from conformance.differential.compare import Counts
from conformance.differential.report import FILE_NAME, lines, report_of
from conformance.differential.run import EFFORTS, Outcome, run
from conformance.harness.client.peer_errors import PeerError
from conformance.harness.java.ivy import JarsUnavailableError
from conformance.harness.targets.target import TargetError, parse_target


def compare_targets(
    target: str,
    against: str,
    *,
    examples: int,
    seed: int,
    profile: str | None = None,
    report: Path | None = None,
) -> int:
    """Compare two targets, print the differences, and return the exit code."""
    try:
        with (
            _progress(examples) as on_progress,
            parse_target(target, profile=profile) as some,
            parse_target(against) as other,
        ):
            outcome = run(
                some,
                other,
                examples=examples,
                seed_number=seed,
                on_progress=on_progress,
            )
    except (TargetError, PeerError, JarsUnavailableError) as error:
        fail(error)
    for line in lines(outcome, target=target, against=against):
        click.echo(line)
    if report is not None:
        _write(report, outcome, target, against)
    if not outcome.has_verdict:
        return NOT_RUN
    return FINDINGS if outcome.findings else SUCCESS


def programs_of(effort: str) -> int:
    """Return the number of programs for ``--examples``: a number or a word."""
    if effort in EFFORTS:
        return EFFORTS[effort]
    if not effort.isdecimal() or not int(effort):
        raise click.UsageError(
            f"--examples: {effort!r} is not a number, {' or '.join(EFFORTS)}"
        )
    return int(effort)


def _write(report: Path, outcome: Outcome, target: str, against: str) -> None:
    report.mkdir(parents=True, exist_ok=True)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    content = report_of(outcome, target=target, against=against, command=command)
    file = report / FILE_NAME
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


@contextmanager
def _progress(examples: int) -> Iterator[Callable[[Counts], None]]:
    """Yield a callback for the progress of a run, which a terminal shows."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _counts: None
        return
    with console.status("starting both targets") as status:

        def show(counts: Counts) -> None:
            requests = sum(counts.steps.values())
            status.update(
                f"{counts.programs} programs of {examples}, {requests} requests;"
                " more where one is shrunk"
            )

        yield show

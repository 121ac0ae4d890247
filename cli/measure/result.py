"""End of ``rmqc bench``: a table or JSON, targets, one line where it cannot measure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import click

from bench.report.result import Limit, Ratio, Report, Row, encode_report
from cli.options.exit_codes import FINDINGS, SUCCESS, USAGE, fail

R = TypeVar("R", bound=Report)
FIGURES = {
    "p50_ms": "p50 {:.2f} ms",
    "p99_ms": "p99 {:.2f} ms",
    "max_ms": "max {:.0f} ms",
    "cpu_us": "{:.1f} us CPU a message",
    "cpu_s": "{:.2f} s CPU",
    "audit_s": "audit {:.2f} s",
    "start_s": "start {:.2f} s",
    "own_mb": "{:.0f} MB",
    "mapped_mb": "+ {:.0f} MB of files",
}
"""Formats of the figures that stand beside a rate in the table, by field."""


def show_progress(text: str) -> None:
    """Show *text* as the progress line of a terminal; a pipe gets nothing."""
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{text}", err=True, nl=False)


@contextmanager
def failures_reported(
    *,
    failed: tuple[type[Exception], ...] = (),
    unusable: tuple[type[Exception], ...] = (),
) -> Iterator[None]:
    """End the program with one line when something cannot be measured.

    All measurements share some errors. A measurement adds its own: *failed* ends with
    exit code 3, *unusable* input with 2.
    """
    from bench.measurements.recovery import NoRoomError
    from bench.processes.java_classes import JavaCompileError
    from bench.processes.servers import ServerBenchError
    from conformance.harness.client.peer_errors import NoResponseError, PeerError
    from conformance.harness.java.ivy import JarsUnavailableError
    from conformance.harness.process.process import ProcessError
    from conformance.harness.targets.target import TargetError
    from java_runtime.find_java import JavaUnavailableError

    unusable += (NoRoomError,)
    failed += (
        ServerBenchError,
        JavaCompileError,
        TargetError,
        NoResponseError,
        PeerError,
        ProcessError,
        JarsUnavailableError,
        JavaUnavailableError,
    )
    try:
        yield
    except unusable as error:
        fail(error, code=USAGE)
    except failed as error:
        fail(error)


def rows_table(found: Report) -> str:
    """Return a report on two servers as lines for people."""
    machine = found.machine
    lines = [
        f"RocketMQ {machine.rocketmq} on {machine.processors} processors,"
        f" load {machine.load:g} at the start,"
        f" median of {found.rounds} rounds",
        "",
    ]
    for row in found.rows:
        lines += [_row_line(row, who) for who in row.sides]
    lines.append("")
    lines += map(goal_line, found.goals)
    return "\n".join(lines)


def finish(
    found: R, *, form: str, check: bool, table: Callable[[R], str] = rows_table
) -> None:
    """Print what was *found* and end: with 1 if *check* finds a goal missed."""
    click.echo(encode_report(found) if form == "json" else table(found))
    sys.exit(FINDINGS if check and found.misses_goal else SUCCESS)


def _row_line(row: Row, who: str) -> str:
    figures = row.sides[who].medians
    shown = [
        text.format(figures[name]) for name, text in FIGURES.items() if name in figures
    ]
    value = f"{row.drawn(who):>10,g} {row.unit}"
    return f"{value}  {who:<9}  {row.id}  {'  '.join(shown)}".rstrip()


def goal_line(goal: Ratio | Limit) -> str:
    """Return a goal, and whether it is met, as a line."""
    if isinstance(goal, Limit):
        line = f"{goal.value:>8g} {goal.unit:<11} {goal.way}"
        return f"{line} target at most {goal.at_most:g}: {_verdict(goal)}"
    line = f"{goal.ratio:>8.2f} x {goal.other:<10} {goal.way:<13}"
    if goal.spread:
        least, most = goal.spread
        line += f" ({least:g} to {most:g})"
    if goal.at_least is None:
        return line.rstrip()
    return f"{line} target {goal.at_least:g}: {_verdict(goal)}"


def _verdict(goal: Ratio | Limit) -> str:
    return "met" if goal.met else "MISSED"

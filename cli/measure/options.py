"""Options that all measurements share: release, rounds, output format and check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from bench.report.result import Report
from cli.measure.result import failures_reported, finish, show_progress
from cli.options.common import Decorator, format_option
from cli.options.releases import release_option


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRun:
    """The values of the shared options."""

    release: str
    rounds: int
    """Interleaved rounds; 1 for a measurement without rounds."""
    form: str
    """Output format: ``table`` or ``json``."""
    check: bool
    """Whether a missed goal ends the program with exit code 1."""

    def report(self, measure: Callable[..., Report], *given: object) -> None:
        """Measure the release with *given*, print the result, and end."""
        with failures_reported():
            found = measure(self.release, *given, progress=show_progress)
        finish(found, form=self.form, check=self.check)


def pinned_releases() -> Sequence[str]:
    """Return the releases whose jars are pinned."""
    from conformance.harness.releases import PINNED

    return PINNED


RELEASE = release_option(
    "The real release to measure, as 4.6.", among=pinned_releases, default="4.6.0"
)
CHECK = click.option("--check", is_flag=True, help="Exit with 1 if a goal is missed.")
ROUNDS = click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Interleaved rounds; the median counts.",
)
SECONDS = click.option(
    "--seconds",
    type=click.FloatRange(min=0.1, max=60),
    default=3.0,
    show_default=True,
    help="Duration of a turn.",
)
SIZE = click.option(
    "--size",
    "body_size",
    type=click.IntRange(min=10),
    default=1024,
    show_default=True,
    help="Bytes of a body.",
)


def bench_options(*, has_rounds: bool = True) -> Decorator:
    """Return the decorator that passes the shared options as one `BenchRun`."""
    options = [RELEASE, *([ROUNDS] if has_rounds else []), CHECK]
    options.insert(-1, format_option(("table", "json")))

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def measured(
            *, release: str, form: str, check: bool, rounds: int = 1, **own: Any
        ) -> Any:
            run = BenchRun(release=release, rounds=rounds, form=form, check=check)
            return command(run, **own)

        found: Callable[..., Any] = measured
        for option in reversed(options):
            found = option(found)
        return found

    return decorate

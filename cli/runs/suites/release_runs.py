"""Runs of the suites on real releases, one after the other, and their reports."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from cli.options.exit_codes import fail
from conformance.harness.report.report import FILE_NAME, read_report
from conformance.harness.report.report_json import Report, ReportError
from conformance.harness.targets.started.embedded import SOURCES
from rocketmq_conformance.paths import module_command
from spec.observed import EvidenceError

Reports = Iterator[Report]
ERROR = "Error: "
"""Begin of the line with which a command ends that did not run."""


class RunError(Exception):
    """The suites did not run on a release: nothing was observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Runs of releases to perform, or the report files of earlier runs."""

    releases: tuple[str, ...]
    jobs: int
    logs: Path | None = None
    files: tuple[Path, ...] = ()
    words: Callable[[str], Sequence[str]] = lambda _release: ()
    """Further options of ``rmqc test`` for a release."""

    @contextmanager
    def reports(self) -> Iterator[Reports]:
        """Give the reports as they come; what goes wrong with one ends the program."""
        try:
            if self.files:
                yield (read_report(file) for file in self.files)
            else:
                with tempfile.TemporaryDirectory() as scratch:
                    yield self._run_all(self.logs or Path(scratch))
        except (ReportError, EvidenceError) as error:
            raise click.UsageError(str(error)) from None
        except RunError as error:
            fail(error)

    def _run_all(self, logs: Path) -> Reports:
        from rich.console import Console

        console = Console(stderr=True)
        for count, release in enumerate(self.releases, start=1):
            progress = f"jvm:{release}, {count} of {len(self.releases)} releases"
            with console.status(f"the suites run on {progress}"):
                try:
                    yield self._run(release, (logs / release).resolve())
                except RunError as error:
                    others = " ".join(self.releases[count:])
                    raise RunError(
                        f"{error}; not run yet: {others}" if others else str(error)
                    ) from None

    def _run(self, release: str, directory: Path) -> Report:
        """Run the suites on *release*, its report and output into *directory*."""
        directory.mkdir(parents=True, exist_ok=True)
        command = module_command("cli", "test", f"--target=jvm:{release}")
        command += [
            f"--report={directory}",
            f"--jobs={self.jobs}",
            *self.words(release),
        ]
        report, log = directory / FILE_NAME, directory / "output.txt"
        report.unlink(missing_ok=True)
        with log.open("w", encoding="utf-8") as out:
            _finish(subprocess.Popen(command, cwd=SOURCES, stdout=out, stderr=out))
        if not report.exists():
            reason = _reason(log.read_text(encoding="utf-8"))
            raise RunError(f"the suites did not run on {release}: {reason}")
        return read_report(report)


def _reason(output: str) -> str:
    """Return the line of the error in *output*, or its last line.

    Lines of a target's log may follow the error.
    """
    lines = output.strip().splitlines()
    errors = [line for line in lines if line.startswith(ERROR)]
    return "".join(errors[:1] or lines[-1:]).removeprefix(ERROR).rstrip(":")


def _finish(run: subprocess.Popen[bytes]) -> None:
    """Wait for *run*; when that is interrupted, let it stop its target first."""
    with run:
        try:
            run.wait()
        except BaseException:
            run.terminate()
            raise

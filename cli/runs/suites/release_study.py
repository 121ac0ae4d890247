"""
Steps from a version number to a studied release, for ``rmqc evidence study``.

Each step is a command of this project that records bytes, tables or outcomes. Clauses
remain an author's work: docs/new_release.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.java.apache import modules
from conformance.harness.java.jars import set_key
from conformance.harness.releases import RELEASES_FILE
from conformance.harness.targets.started.embedded import SOURCES
from rocketmq_conformance.paths import module_command
from spec.clause import release_key

NAMES = (
    *("jars", "name", "headers", "changes", "evidence", "ranges"),
    *("stores", "frames", "parts", "edges", "vectors", "handover", "pages"),
)
"""Steps, each after those that it needs."""
REQUESTS = Path("fixtures", "headers", "requests.toml")
RELEASES_HEADING = """\
# Releases of Apache RocketMQ, the oldest first. `rmqc evidence study` adds a new one.
# Those of `pinned` can be started: their jars are in java/jars.lock.
"""
_HAS_FINDINGS = 1


class StepError(Exception):
    """A step failed; the later ones need it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a study."""

    name: str
    words: tuple[str, ...] = ()
    """Command as an author types it; empty for the step that names the release."""

    @property
    def command(self) -> list[str]:
        """Return the words of the process."""
        program, *words = self.words
        if program == "rmqc":
            return module_command("cli", *words)
        return [sys.executable, *words]

    def ends_well(self, code: int) -> bool:
        """Return whether the next step may run; findings are an author's work."""
        return code == 0 or (self.words[:1] == ("rmqc",) and code == _HAS_FINDINGS)


def steps(release: str) -> list[Step]:
    """Return the steps of a study of *release*."""
    jars = set_key(modules(release), transitive=True).split()
    words = {
        "jars": ("python", "-m", "conformance.harness.java.pin_jars", *jars),
        "changes": ("rmqc", "spec", "evolution"),
        "evidence": ("rmqc", "evidence", "record", "--release", release),
        "ranges": ("rmqc", "evidence", "ranges", "--release", release),
        "vectors": ("python", "-m", "fixtures.record.vectors"),
        "handover": ("rmqc", "report", "handover", "-o", "docs/handover.md"),
        "pages": ("rmqc", "report", "pages"),
        **{
            name: ("python", "-m", f"fixtures.record.{name}", release)
            for name in ("headers", "stores", "frames", "parts", "edges")
        },
    }
    return [Step(name, words.get(name, ())) for name in NAMES]


def run_steps(release: str, first: str) -> Iterator[str]:
    """Run the steps from *first* on; yield a line before and after each."""
    begin = NAMES.index(first)
    for number, step in enumerate(steps(release)[begin:], start=begin + 1):
        shown = " ".join(step.words) or f"{release} into {RELEASES_FILE.name}"
        yield f"[{number}/{len(NAMES)}] {step.name}: {shown}"
        began = time.monotonic()
        if not step.words:
            add_release(release)
        elif not step.ends_well(code := _run(step)):
            raise StepError(f"step {step.name} ended with exit code {code}")
        yield f"  done in {time.monotonic() - began:.0f} s"


def add_release(release: str, file: Path = RELEASES_FILE) -> None:
    """Add *release* to both lists of *file*, in the order of releases."""
    lists = tomllib.loads(file.read_text(encoding="utf-8"))
    lines = [
        f"{name} = {json.dumps(sorted({*lists[name], release}, key=release_key))}\n"
        for name in ("studied", "pinned")
    ]
    file.write_text(RELEASES_HEADING + "".join(lines), encoding="utf-8")


def _run(step: Step) -> int:
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    with subprocess.Popen(step.command, cwd=SOURCES, env=environment) as run:
        try:
            return run.wait()
        except BaseException:
            run.terminate()
            raise

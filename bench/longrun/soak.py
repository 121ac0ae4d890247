"""
A soak: ``python -m bench.longrun.soak [MINUTES] [--against 4.6.0]``.

Apache's own benchmark producer and consumer work on the broker, by default for ten
minutes. They are ended and started again in turn at random moments, half of the times
with SIGKILL. Meanwhile the broker's resident memory is read each second. Then the
producer ends, the consumer takes the rest and the broker stops. The clients' events are
compared with the files of the store; see ``soak_events.py``.

The exit code is 1 for more losses or duplicates than at-least-once allows. It is also 1
for memory over 200 MB, or if the second half kept a tenth more than the first. Pages of
mapped files are released each second; how many there are in between depends on the rate
of messages. So the least of them is compared, and of the rest the median.
With --against the same is done to Apache's broker afterwards, whose memory has no
target.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import psutil
from rich.console import Console
from rich.table import Table

from bench.longrun.memory import REAL_SIZES, Memory
from bench.longrun.soak_clients import THREADS, ClientEndedError
from bench.longrun.soak_events import Balance, balance
from bench.longrun.soak_run import Soak, SoakError, megabytes
from bench.longrun.soak_store import read_stored
from bench.processes.java_classes import JavaCompileError
from conformance.harness.java.apache import PROGRAMS
from conformance.harness.java.ivy import JarsUnavailableError
from conformance.harness.process.process import ProcessError
from conformance.harness.targets.target import TargetError, parse_target
from java_runtime.find_java import JavaUnavailableError

MINUTES = 10.0
MEMORY_MAX = 200 * 10**6
GROWTH_MAX = 1.10
DISK_A_MINUTE = 10_000 * 60 * 500
"""More messages than come, and the bytes of each with all that is noted of it."""
OURS = "embedded:"
OUR_PROGRAM = "reference.shell"
NOT_RUN = (
    ClientEndedError,
    JarsUnavailableError,
    JavaCompileError,
    JavaUnavailableError,
    ProcessError,
    SoakError,
    TargetError,
)
"""Errors of the harness, which show nothing about a broker."""
# The broker gets both spellings of the name; each release reads only one.
SETTINGS = REAL_SIZES | {
    key.replace("maped", "mapped"): value for key, value in REAL_SIZES.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Results of a soak."""

    target: str
    seed: int
    minutes: float
    restarts: dict[str, int]
    memory: list[Memory]
    """The broker's memory, each second."""
    gaps: tuple[str, ...]
    balance: Balance

    @property
    def peak(self) -> int:
        """The most resident memory."""
        return max(own + files for own, files in self.memory)

    @property
    def kept(self) -> tuple[Memory, Memory]:
        """Memory that the broker kept in each half of the run."""
        middle = max(len(self.memory) // 2, 1)
        return _kept(self.memory[:middle]), _kept(self.memory[middle:] or self.memory)

    @property
    def faults(self) -> list[str]:
        """Faults, as sentences."""
        found = [*self.balance.faults, *self.gaps]
        is_ours = self.target.startswith(OURS)
        return found + (memory_faults(self.peak, *self.kept) if is_ours else [])

    def as_json(self) -> dict[str, object]:
        """Return the figures for programs."""
        report = asdict(self)
        del report["memory"]
        return report | {
            "memory_mb": {
                "peak": megabytes(self.peak),
                "kept_own_and_files": [_as_megabytes(half) for half in self.kept],
                "own_and_files": [
                    _as_megabytes(each)
                    for each in self.memory[:: max(1, len(self.memory) // 20)]
                ],
            },
            "faults": self.faults,
        }


def memory_faults(peak: int, first: Memory, second: Memory) -> list[str]:
    """Return the faults of a broker's memory: its *peak*, and what each half kept."""
    faults = []
    if peak > MEMORY_MAX:
        faults.append(f"memory was {megabytes(peak)} MB")
    names = ("memory", "memory of mapped files")
    for name, before, after in zip(names, first, second, strict=True):
        if after > before * GROWTH_MAX:
            faults.append(f"{name} grew: {megabytes(before)} MB, {megabytes(after)} MB")
    return faults


def _kept(samples: Sequence[Memory]) -> Memory:
    return Memory(
        own=int(median(each.own for each in samples)),
        files=min(each.files for each in samples),
    )


def _as_megabytes(memory: Memory) -> list[float]:
    return [megabytes(part) for part in memory]


def measure(
    text: str, *, seed: int, minutes: float, progress: Callable[[str], None]
) -> Figures:
    """Soak the target *text*; return what was seen."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-soak-"))
        progress(f"starting {text}")
        target = stack.enter_context(parse_target(text, conf=SETTINGS))
        soak = Soak(target, _broker_process(), Path(folder), seed)
        stack.callback(soak.close)
        soak.run(60 * minutes, progress)
        committed = soak.committed()
        target.stop()
        progress("reading the store")
        assert target.store_path is not None
        stored = read_stored(target.store_path, soak.topic)
        return Figures(
            target=text,
            seed=seed,
            minutes=minutes,
            restarts={c.program: c.ends - 1 for c in (soak.producers, soak.consumers)},
            memory=soak.memory,
            gaps=stored.gaps,
            balance=balance(
                stored.queues,
                producers=soak.producers.runs(),
                consumers=soak.consumers.runs(),
                committed=committed,
                at_once=THREADS,
            ),
        )


def _broker_process() -> int:
    """Return the id of the broker, which is a child of ours."""
    for process in psutil.Process().children():
        if {OUR_PROGRAM, PROGRAMS["broker"]} & set(process.cmdline()):
            return process.pid
    raise SoakError("no broker runs here")


def as_table(found: Sequence[Figures]) -> Table:
    """Return the figures of soaks for people, a column each."""
    table = Table("", *(figures.target for figures in found), title="soak")
    rows: dict[str, list[object]] = {"minutes": [one.minutes for one in found]}
    for program in found[0].restarts:
        rows[f"restarts of the {program}"] = [one.restarts[program] for one in found]
    for name in asdict(found[0].balance):
        rows[name.replace("_", " ")] = [getattr(one.balance, name) for one in found]
    rows["memory at most"] = [f"{megabytes(one.peak)} MB" for one in found]
    for half, name in enumerate(("first", "second")):
        rows[f"memory kept, {name} half"] = [
            f"{megabytes(sum(one.kept[half]))} MB" for one in found
        ]
    rows["verdict"] = ["; ".join(one.faults) or "as it has to be" for one in found]
    for name, values in rows.items():
        table.add_row(name, *(str(value) for value in values))
    return table


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the progress: on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _text: None
        return
    with console.status("") as status:
        yield status.update


def main(words: Sequence[str] | None = None) -> int:
    """Soak with the command line's options; return the exit code."""
    given = _parser().parse_args(words)
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < given.minutes * DISK_A_MINUTE:
        sys.stderr.write(f"{tempfile.gettempdir()} has room for {free} bytes only\n")
        return 2
    # Without a handler, SIGTERM would end Python and leave the store behind.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    sys.stderr.write(f"seed {given.seed}\n")
    targets = [OURS] + [f"jvm:{release}" for release in given.against]
    try:
        with _progress() as progress:
            found = [
                measure(text, seed=given.seed, minutes=given.minutes, progress=progress)
                for text in targets
            ]
    except NOT_RUN as error:
        sys.stderr.write(f"{error}\n")
        return 3
    except KeyboardInterrupt:
        return 130
    if given.format == "json":
        reports = [figures.as_json() for figures in found]
        sys.stdout.write(json.dumps(reports, indent=1) + "\n")
    else:
        Console(width=100, highlight=False).print(as_table(found))
    return 1 if any(figures.faults for figures in found) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.longrun.soak", description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=MINUTES)
    parser.add_argument("--against", action="append", default=[], metavar="RELEASE")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    drawn = random.SystemRandom().randrange(2**31)
    parser.add_argument("--seed", type=int, default=drawn)
    return parser


if __name__ == "__main__":
    sys.exit(main())

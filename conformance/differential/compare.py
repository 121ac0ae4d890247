"""
One program, step by step, on two targets.

Each step runs on both before the next one. The first difference that no clause explains
ends the program and is its finding. An explained difference is counted. It also ends
the program if it leaves the targets in different states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count

from conformance.differential.explain import ABSENT, Difference, Explanation, explain
from conformance.differential.normalise import Facts, Reader, code_name, different
from conformance.differential.program import EPILOGUE, PROLOGUE, Program
from conformance.differential.steps.step import Nothing, Step
from conformance.differential.world import Patience, World
from conformance.harness.targets.target import Target
from spec.wire.remoting.response_code import ResponseCode

SUCCESS = code_name(ResponseCode.SUCCESS)
BUSY = " (SYSTEM_BUSY)"
REFUSALS = {
    code_name(ResponseCode.REQUEST_CODE_NOT_SUPPORTED): "",
    code_name(ResponseCode.SYSTEM_BUSY): BUSY,
}
"""Responses of foreign targets that are not compared, and their text in a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A step, and what both targets answered."""

    step: Step
    target: Facts
    against: Facts


@dataclass(slots=True, kw_only=True)
class ProgramRun:
    """Outcome of a program."""

    exchanges: list[Exchange] = field(default_factory=list)
    difference: Difference | None = None
    """Unexplained difference that ended the program."""
    parted: bool = False
    """Whether a foretold difference ended it."""


class UnlikeError(AssertionError):
    """Two targets answer differently, and nothing foretold it."""

    def __init__(self, program_run: ProgramRun) -> None:
        super().__init__(str(program_run.difference))
        self.program_run = program_run


@dataclass(slots=True, kw_only=True)
class Counts:
    """Counters of a run."""

    programs: int = 0
    parted: int = 0
    refused: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))
    """Requests that each foreign target lacks, or was too busy for."""
    steps: Counter[str] = field(default_factory=Counter)
    """Answered by both, by kind."""
    compared: set[str] = field(default_factory=set)
    """Requests answered by both."""
    successes: int = 0
    """Steps with the response SUCCESS of at least one target."""
    facts: int = 0
    explained: Counter[Explanation] = field(default_factory=Counter)
    examples: dict[Explanation, tuple[Step, Difference]] = field(default_factory=dict)

    @property
    def always_busy(self) -> list[str]:
        """Requests that a target was too busy for each time."""
        busy = {
            name.removesuffix(BUSY)
            for name in set().union(*self.refused)
            if name.endswith(BUSY)
        }
        return sorted(busy - self.compared)


@dataclass(slots=True)
class Pair:
    """Two targets, and how often they were compared."""

    target: Target
    against: Target
    run: str
    """Common prefix of all names of the run."""
    counts: Counts = field(default_factory=Counts)
    patience: tuple[Patience, Patience] = field(
        default_factory=lambda: (Patience(), Patience())
    )
    ignored: set[tuple[str, str]] = field(default_factory=set)
    """Differences that were found before, by kind and path; they are ignored."""
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2))
    """One thread a side: what takes time takes it once."""

    @property
    def releases(self) -> tuple[str, str]:
        """The releases that both are taken for."""
        return self.target.release, self.against.release

    def compare(self, program: Program) -> ProgramRun:
        """Run *program* on both, and return its outcome."""
        number = next(self._numbers)
        some = World(self.target, f"{self.run}a{number:05}_", self.patience[0])
        other = World(self.against, f"{self.run}b{number:05}_", self.patience[1])
        program_run = ProgramRun()
        self.counts.programs += 1
        with some, other:
            readers = Reader(some), Reader(other)
            for step in (*PROLOGUE, *program, *EPILOGUE):
                self._exchange(step, readers, program_run)
                if program_run.difference or program_run.parted:
                    break
        self.counts.parted += program_run.parted
        return program_run

    def _exchange(
        self, step: Step, readers: tuple[Reader, Reader], program_run: ProgramRun
    ) -> None:
        """Run a step on both, and record the result in *program_run*."""
        some, other = self._pool.map(lambda one: one.invoke(step), readers)
        program_run.exchanges.append(Exchange(step=step, target=some, against=other))
        if some == other == {"code": Nothing.NOT_SENT.value}:
            return
        if refusals := self._refusals(step, (some, other)):
            program_run.parted = step.changes and refusals == 1
            return
        self.counts.steps[step.kind] += 1
        self.counts.compared.add(step.request)
        self.counts.successes += SUCCESS in (some["code"], other["code"])
        self.counts.facts += len(some.keys() | other.keys())
        for path in different(some, other):
            difference = Difference(
                kind=step.kind,
                path=path,
                target=some.get(path, ABSENT),
                against=other.get(path, ABSENT),
            )
            if signature(difference) in self.ignored:
                program_run.parted = True
                return
            found = explain(difference, step, releases=self.releases)
            if found is None:
                program_run.difference = difference
                return
            self.counts.explained[found] += 1
            self.counts.examples.setdefault(found, (step, difference))
            is_refusal = step.changes and path == "code"
            program_run.parted = program_run.parted or found.parts or is_refusal

    def _refusals(self, step: Step, found: tuple[Facts, Facts]) -> int:
        """Note *step* for each target that refuses it in any case; return their count.

        A foreign target may lack any request that Apache has, as in the suites.
        """
        count = 0
        for target, facts, names in zip(
            (self.target, self.against), found, self.counts.refused, strict=True
        ):
            if step.request and target.is_foreign and facts["code"] in REFUSALS:
                names.add(f"{step.request}{REFUSALS[facts['code']]}")
                count += 1
        return count


def signature(difference: Difference) -> tuple[str, str]:
    """Return a key that is equal for differences of probably one cause."""
    words = ["N" if word.isdecimal() else word for word in difference.path.split(".")]
    values = " | ".join(sorted(difference.values)) if difference.path == "code" else ""
    return difference.kind, ".".join(words) + values


def all_different(exchange: Exchange, *, but: Collection[str] = ()) -> list[Difference]:
    """Return every fact of an exchange that is not the same."""
    return [
        Difference(
            kind=exchange.step.kind,
            path=path,
            target=exchange.target.get(path, ABSENT),
            against=exchange.against.get(path, ABSENT),
        )
        for path in different(exchange.target, exchange.against)
        if path not in but
    ]

"""Options and markers of the suites, and their values in this run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from conformance.harness.baseline.baseline import Baseline

SUITES = (
    *("wire", "store", "routing", "messaging", "security", "tls", "recovery", "client"),
)
"""The suites: each test names a clause."""
BROKER_SUITES = tuple(name for name in SUITES if name != "client")
"""Suites about a name server and a broker; the others are about clients."""
CONFORMANCE = Path(__file__).parents[2]
"""The folder of the suites."""
DEFAULT_TARGET = "embedded:"
JUNIT = "junit.xml"
"""File beside report.json that `rmqc test --report` adds."""

MARKERS = (
    "clause(*ids): the clauses of the specification that this test is about",
    "needs(*capabilities): what the target must allow, else the test is unsupported",
    "settings(**values): broker settings that it relies on, where others set them",
    "namesrv_settings(**values): the same of the name server",
    "restores: a running cluster is enough with --may-configure, and stays as it is",
    "read_only: this test writes nothing, and runs under --read-only",
    "long: it waits for seconds, and its file begins first",
    "patient: it looks at what takes minutes and began with the run, and comes last",
    "heavy: it loads the target so much that others may wait, and comes behind them",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The values of the suite's options."""

    target: str
    profile: str | None
    suites: tuple[str, ...]
    known: Path | None
    write_known: Path | None
    """File for the failures of this run, usable as *known* later."""
    report: Path | None
    read_only: bool
    may_configure: bool
    """Whether tests may change settings of a running cluster, and put them back."""
    shuffle: int | None
    """Seed of a random order; None for the default order."""
    require_target: bool
    against_evidence: bool
    """Whether an outcome unlike the recorded one of the release is a finding."""
    beyond_range: bool
    """Whether to select clauses that do not apply to the target's release."""
    only_clauses: frozenset[str]
    """Clauses whose tests are selected; empty for all."""
    by_cause: bool
    """Whether failures are written by cause, and not each one."""
    baseline: Baseline
    """Requests that are checked before the first test."""
    until_failed: bool
    """Whether to end the run when each of *only_clauses* has failed."""


def add_options(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("conformance", "which peer, which clauses, which report")
    add = group.addoption
    add("--target", default=DEFAULT_TARGET, help="the peer (default: %(default)s)")
    add("--profile", help="release of the target, for example 4.6")
    add("--suite", default="", help=f"comma-separated, of {', '.join(SUITES)}")
    add("--known", type=Path, help="TOML file of known failures, each with a reason")
    first = "write what failed into a new file for --known"
    add("--write-known", type=Path, metavar="FILE", help=first)
    add("--report", type=Path, help="directory for report.json")
    add("--read-only", action="store_true", help="only tests that write nothing")
    changes = "change settings of a running cluster where a test needs others"
    add("--may-configure", action="store_true", help=changes)
    add("--only-clauses", default="", help="only tests that name one of these ids")
    add("--until-failed", action="store_true", help="stop when each of them failed")
    add("--by-cause", action="store_true", help="write failures by cause, not each")
    no_baseline = "do not check plain requests before the first test"
    add("--no-baseline", action="store_true", help=no_baseline)
    differs = "fail where the recorded evidence of the release differs"
    add("--against-evidence", action="store_true", help=differs)
    beyond = "select only clauses that apply to other releases"
    add("--beyond-range", action="store_true", help=beyond)
    more = "how many histories each stateful machine tries, other ones each time"
    add("--examples", type=int, metavar="N", help=more)
    order = "run in the random order that this number chooses"
    add("--shuffle", type=int, metavar="SEED", help=order)
    needed = "end the run at once if the target does not start"
    add("--require-target", action="store_true", help=needed)


def options_of(config: pytest.Config) -> Options:
    """Return the options of this run."""
    suites = tuple(filter(None, str(config.getoption("suite", "")).split(",")))
    unknown = [name for name in suites if name not in SUITES]
    if unknown:
        known = ", ".join(SUITES)
        raise pytest.UsageError(f"--suite: no suite {unknown[0]!r}; there are {known}")
    only = config.getoption("only_clauses", "")
    new = config.getoption("write_known", None)
    if new is not None and new.exists() and not hasattr(config, "workerinput"):
        raise pytest.UsageError(f"--write-known: {new} is there already")
    return Options(
        write_known=new,
        target=config.getoption("target", DEFAULT_TARGET),
        profile=config.getoption("profile", None),
        suites=suites,
        known=config.getoption("known", None),
        report=config.getoption("report", None),
        read_only=bool(config.getoption("read_only", False)),
        may_configure=bool(config.getoption("may_configure", False)),
        against_evidence=bool(config.getoption("against_evidence", False)),
        beyond_range=bool(config.getoption("beyond_range", False)),
        only_clauses=frozenset(filter(None, str(only).split(","))),
        until_failed=bool(config.getoption("until_failed", False)),
        baseline=_baseline_of(config),
        by_cause=_is_by_cause(config),
        shuffle=config.getoption("shuffle", None),
        require_target=bool(config.getoption("require_target", False)),
    )


def _is_by_cause(config: pytest.Config) -> bool:
    """Return whether failures are written by cause: not with ``-v``, beside ``-q``."""
    return bool(config.getoption("by_cause", False)) and config.option.verbose < 0


def _baseline_of(config: pytest.Config) -> Baseline:
    """Return the requests to check before a run of tests on a target."""
    quiet = ("no_baseline", "until_failed", "collectonly")
    if any(config.getoption(name, False) for name in quiet):
        return Baseline.NONE
    is_read_only = config.getoption("read_only", False)
    return Baseline.READS if is_read_only else Baseline.WHOLE


def suite_folders(names: Iterable[str] = SUITES) -> list[Path]:
    """Return the folders of the suites of these names that have tests."""
    folders = [CONFORMANCE / name for name in names]
    return [folder for folder in folders if any(folder.rglob("test_*.py"))]


def suite_of(item: pytest.Item) -> str | None:
    """Return the suite that *item* is in; None for other tests."""
    parts = item.path.parts
    for room, suite in pairwise(parts):
        if room == "conformance" and suite in SUITES:
            return suite
    return None

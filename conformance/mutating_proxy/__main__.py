"""
``python -m conformance.mutating_proxy``: mutate the traffic of the reference.

With ``--release 5.3.3`` it is the traffic of Apache RocketMQ of that release.
A recording run comes first, unless ``--recording FILE`` has one. Then a sample of the
mutations acts, one at a time, until a test detects it. ``--out FILE`` gets the results.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from conformance.harness.pytest_plugin.options import suite_folders
from conformance.mutating_proxy.campaign import MutationCampaign
from conformance.mutating_proxy.recording import LONGEST_S
from conformance.mutating_proxy.session import PATIENCE_S, JobSession

SUITES = ("wire", "routing", "messaging", "store")
OPTIONS = (
    *("-q", "--import-mode=importlib", "-p", "no:cacheprovider"),
    *("-p", "conformance.harness.pytest_plugin.plugin"),
    *("--no-baseline", "--hypothesis-profile=glance", "--tb=short"),
    *("-m", "not patient"),
    # The harness is imported before pytest could rewrite its assertions.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)


def main(words: list[str]) -> int:
    """Run the campaign; return 0 where each mutation is detected or explained."""
    options = _parser().parse_args(words)
    campaign = MutationCampaign(
        recording=options.recording,
        sample=options.sample,
        seed=options.seed,
        only=options.only,
        again=options.again,
        out=options.out,
        longest_s=options.longest,
        clauses=options.clauses,
    )
    patience_s = max(PATIENCE_S, int(2 * options.longest))
    session = JobSession(campaign.run, workers=options.jobs, patience_s=patience_s)
    places = options.tests or [str(one) for one in suite_folders(SUITES)]
    words = [*OPTIONS, f"--target=proxied:{options.release}", *places]
    code = int(pytest.main(words, plugins=[session]))
    return code or campaign.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m conformance.mutating_proxy")
    add = parser.add_argument
    add("--recording", type=Path, help="recording to read, or to write if it is absent")
    add("--sample", type=int, default=400, help="number of mutations; 0 for all")
    add("--seed", type=int, default=1, help="choice of the sample")
    names = "parts of the names of the mutations to run; all without it"
    add("--only", nargs="*", default=[], metavar="TEXT", help=names)
    add("--again", type=Path, help="run only the survivors in these results")
    add("--out", type=Path, help="file for the results, as JSON lines")
    add("--release", default="", help="a real release; the reference without it")
    add("--tests", nargs="*", help="files of tests; all suites without it")
    add("--jobs", type=int, default=8, help="workers; most tests wait")
    slow = "seconds of the slowest test that is shown mutations"
    add("--longest", type=float, default=LONGEST_S, help=slow)
    alone = "show each mutation to the tests of each of these clauses, one by one"
    add("--clauses", nargs="*", default=[], metavar="ID", help=alone)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

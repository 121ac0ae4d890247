"""
Every seeded fault agrees with the types of the sources around it.

A name that a rename left behind raises an error on the mutant. The clause may then fail
because of that error, not because of the fault.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import defaultdict
from itertools import zip_longest
from pathlib import Path

from conformance.harness.targets.started.embedded import SOURCES
from conformance.mutants.mutant import PLANTED, Mutant, all_mutants, mutated


def test_faults_agree_with_the_types(tmp_path: Path) -> None:
    # The reference has no kernels, and mypy types those with other settings.
    without = shutil.ignore_patterns("__pycache__", "tests", "kernels", "*.json")
    tree = tmp_path / "sources"
    for package in PLANTED:
        shutil.copytree(SOURCES / package, tree / package, ignore=without)
    of_file: dict[str, list[Mutant]] = defaultdict(list)
    for fault in all_mutants().values():
        of_file[fault.file].append(fault)
    wrong = []
    # One mutant of each file in a round. Mypy reads what it has not read before.
    for round_ in zip_longest(*of_file.values()):
        for file, fault in zip(of_file, round_, strict=True):
            text = (
                mutated(fault, SOURCES)
                if fault
                else (SOURCES / file).read_text(encoding="utf-8")
            )
            (tree / file).write_text(text, encoding="utf-8")
        of_round = {fault.file: fault.id for fault in round_ if fault}
        wrong += [
            f"{of_round.get(line.partition(':')[0])}: {line}"
            for line in mypy_errors(tree, tmp_path / "cache")
        ]
    assert not wrong, "\n".join(wrong)


def mypy_errors(tree: Path, cache: Path) -> list[str]:
    command = [
        *(sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports"),
        *("--no-error-summary", "--hide-error-context"),
        *("--cache-dir", str(cache), *PLANTED),
    ]
    run = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert not run.stderr, run.stderr
    return run.stdout.splitlines()

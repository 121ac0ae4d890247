"""The steps of docs/architecture.md are functions that a message goes through."""

from __future__ import annotations

import re
import subprocess
import sys

from bench.journey import ROOT

STEP = re.compile(r"^\| \d+ \| .* \| `([\w/]+\.py)` `([\w.]+)` \|$", re.MULTILINE)
STOP = re.compile(r"^ *\d+ ([\w/]+\.py):\d+ ([\w.]+)$", re.MULTILINE)


def test_the_described_way_is_the_traced_one() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    command = [sys.executable, "-m", "bench.journey"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    traced = STOP.findall(done.stdout)
    described = STEP.findall(page)
    assert len(described) == 20
    functions = [one for one in described if not one[1].isupper()]
    assert [one for one in functions if one not in traced] == []

"""
tshark with the dissector that ``rmqc`` exports, run on a capture.

Without tshark the tests cannot decide anything, so its absence is an error and not a
skip.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketmq_conformance.paths import module_command

SEPARATOR = "\x1f"
DEADLINE_S = 60.0


class NoTsharkError(Exception):
    """There is no tshark to be found."""


@dataclass(frozen=True, slots=True)
class Tshark:
    """tshark with the dissector loaded."""

    program: str
    script: Path

    @classmethod
    def with_exported_script(cls, directory: Path) -> Tshark:
        """Return a tshark with a dissector exported just now into *directory*."""
        program = find_tshark()
        script = directory / "rocketmq.lua"
        words = ["spec", "export", "--format", "lua", "--out", str(script)]
        subprocess.run(module_command("cli", *words), check=True)
        return cls(program, script)

    def rows(
        self, capture: Path, names: Sequence[str], *, only: str
    ) -> list[dict[str, list[str]]]:
        """Return the values of *names* in each packet that the filter *only* takes."""
        words = ["-T", "fields", "-E", f"aggregator={SEPARATOR}", "-E", "separator=/t"]
        for name in names:
            words += ["-e", name]
        lines = self._run(capture, ["-Y", only, *words]).splitlines()
        cells = (line.split("\t") for line in lines)
        return [
            {
                name: cell.split(SEPARATOR) if cell else []
                for name, cell in zip(names, row, strict=True)
            }
            for row in cells
        ]

    def trees(self, capture: Path, *, only: str) -> list[Mapping[str, object]]:
        """Return the whole tree of each packet that the filter *only* takes."""
        words = ["-Y", only, "-T", "json", "--no-duplicate-keys"]
        found = json.loads(self._run(capture, words))
        return [packet["_source"]["layers"] for packet in found]

    def _run(self, capture: Path, words: Sequence[str]) -> str:
        # Two passes, so that a request has the frame of its response.
        load = ["-X", f"lua_script:{self.script}", "-2", "-r", str(capture)]
        done = subprocess.run(
            [self.program, "-n", *load, *words],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Lua" not in done.stderr, done.stderr
        return done.stdout


def find_tshark() -> str:
    """Return the path of tshark."""
    program = shutil.which("tshark")
    if program is None:
        raise NoTsharkError("no tshark on the PATH; Debian: apt install tshark")
    return program


if __name__ == "__main__":
    try:
        find_tshark()
    except NoTsharkError as error:
        sys.exit(str(error))

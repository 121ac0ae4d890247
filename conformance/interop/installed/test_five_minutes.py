"""
The commands of docs/five-minutes.md run one after the other.

They run in one bash in an empty folder, unchanged except for the ports, which may be in
use on this machine. `pipx` is the real one, and installs everything. A block states its
effect: ``exit=1`` for a command with findings, ``background`` for a second terminal.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.harness.process.ports import free_port_block
from conformance.harness.process.process import Child, start
from conformance.harness.targets.started.embedded import SOURCES
from conformance.interop.tools.installed_wheel import copy_sources, run

PAGE = SOURCES / "docs" / "five-minutes.md"
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETTINGS = ("", " background", " exit=1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Text between two rows of backquotes."""

    language: str
    setting: str
    text: str


def blocks() -> list[Block]:
    """Return the blocks of the page."""
    found = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [Block(language=one, setting=how, text=text) for one, how, text in found]


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reader of the page."""

    checkout: Path
    folder: Path
    environment: dict[str, str]
    ports: dict[str, str]
    serving: list[Child]

    def follow(self, block: Block) -> str:
        """Type the lines of *block*, and return what was printed."""
        text = block.text.strip()
        for written, free in self.ports.items():
            text = text.replace(written, free)
        if block.setting == " background":
            return self._serve(text)
        is_install = text.startswith("pipx install")
        where = self.checkout if is_install else self.folder
        code = 1 if "exit=1" in block.setting else 0
        script = ["bash", "--norc", "-c", text]
        settings = self.environment
        return run(
            script, cwd=where, codes=(code,), timeout_s=1500, environment=settings
        )

    def _serve(self, text: str) -> str:
        words = text.split()
        words[0] = f"{self.environment['PIPX_BIN_DIR']}/{words[0]}"
        log = self.folder.parent / "serving.log"
        served = start(text, words, log=log, directory=self.folder)
        self.serving.append(served)
        return served.wait_for_line("ready ", deadline_s=120)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """Yield a reader who has pipx, a checkout and an empty folder."""
    tools = tmp_path / "tools"
    subprocess.run([sys.executable, "-m", "venv", tools], check=True)
    run([tools / "bin" / "pip", "install", "--quiet", "pipx"], cwd=tmp_path)
    (tmp_path / "work").mkdir()
    programs = tmp_path / "bin"
    path = f"{programs}:{tools / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    where = {"PIPX_HOME": tmp_path / "home", "PIPX_BIN_DIR": programs}
    ports = free_port_block()
    followed = Reader(
        checkout=copy_sources(tmp_path / "checkout"),
        folder=tmp_path / "work",
        environment={"PATH": path, **{name: str(one) for name, one in where.items()}},
        ports={"9876": str(ports.name_server), "10911": str(ports.broker)},
        serving=[],
    )
    yield followed
    for served in followed.serving:
        served.terminate()
    ports.release()


def test_every_block_is_a_command_or_shown_by_one() -> None:
    kinds = {(one.language, one.setting) for one in blocks()}
    shown = {("text", ""), ("yaml", "")}
    assert kinds <= shown | {("sh", setting) for setting in SETTINGS}


def test_a_reader_gets_to_the_end(reader: Reader) -> None:
    printed = ""
    for block in blocks():
        if block.language == "sh":
            printed = reader.follow(block)
        elif block.language == "text":
            assert block.text.strip() in printed
    made = {path.name for path in reader.folder.iterdir()}
    assert made == {"first", "fault", "first-store", "known.toml", "report"}
    assert list((reader.folder / "fault" / "captures").iterdir())
    report = {path.name for path in (reader.folder / "report").iterdir()}
    assert {"junit.xml", "summary.md", "badge.svg", "report.html"} <= report

"""
Adapters in a language with a compiler: built where they are first needed.

A program stands in the user's cache, by the text of its sources and pinned versions.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from java_runtime.user_cache import made_once

NO_COMPILER = 3
"""Exit code without the language's tool."""

Build = Callable[[Path, Path], None]
"""Function that builds the sources in a folder into a program."""


def find_tool(name: str, *usual: Path) -> str | None:
    """Return the path of a tool, on PATH or in a *usual* folder of its installer."""
    places = os.pathsep.join([os.environ.get("PATH", ""), *map(str, usual)])
    return shutil.which(name, path=places)


def built(sources: Path, suffixes: tuple[str, ...], build: Build) -> Path:
    """Return the program that *build* makes of the files of *sources* in the cache."""
    files = sorted(one for one in sources.rglob("*") if one.suffix in suffixes)
    names = [one.relative_to(sources) for one in files]
    text = b"".join(
        str(name).encode() + one.read_bytes()
        for name, one in zip(names, files, strict=True)
    )
    key = f"{sources.name}-{hashlib.sha256(text).hexdigest()[:16]}"

    def make(program: Path) -> None:
        copy = program.with_name("sources")
        for name, one in zip(names, files, strict=True):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(one, copy / name)
        build(copy, program)

    return made_once(f"adapters/{key}/adapter", make)


def run_tool(words: list[str], folder: Path, more: Mapping[str, str]) -> None:
    """Run a build tool in *folder*; its output goes to standard error."""
    environment = {**os.environ, **more}
    subprocess.run(
        words, cwd=folder, env=environment, check=True, stdout=sys.stderr.fileno()
    )


def run(
    folder: Path,
    *,
    language: str,
    tool: str | None,
    suffixes: tuple[str, ...],
    build: Callable[[str, Path, Path], None],
    variables: Callable[[str], Mapping[str, str]],
) -> int:
    """Run the adapter whose sources are in *folder* until its input ends.

    *build* builds with the *tool*, which is None where the language is not installed.
    *variables* returns those that name the directory for the client's files.
    """
    if tool is None:
        sys.stderr.write(f"there is no {language} here\n")
        return NO_COMPILER
    program = built(folder, suffixes, partial(build, tool))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="client-") as home:
        environment = {**os.environ, **variables(home)}
        return subprocess.run(
            [str(program)], cwd=home, env=environment, check=False
        ).returncode

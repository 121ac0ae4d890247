"""
``rmqc`` installed from a wheel, in an environment outside the checkout.

The wheel is built from a copy of the files in git, so that no other file gets in. Its
environment has a Python and the wheel only. Dependencies come from the environment that
runs this, since Spark alone is half a gigabyte. `pipx` and `uv` check that the list of
dependencies is right.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.targets.started.embedded import SOURCES

ROOMS = (
    *("spec", "columns", "java_runtime", "reference", "conformance", "spark_checks"),
    *("cli", "bench"),
)
"""The packages, without their ``tests``; of ``fixtures`` ``headers`` is installed."""
SHIPPED_FIXTURES = "fixtures/headers"
NAME = "rocketmq_conformance"
"""The one name that the wheel adds to an environment."""
_OURS = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTEST_CURRENT_TEST")
"""Variables that would lead an installed command back to the checkout."""


def tracked_files() -> list[str]:
    """Return the paths of all existing files that git tracks."""
    names = run(["git", "ls-files", "-z"], cwd=SOURCES).split("\0")
    return sorted(name for name in names if name and (SOURCES / name).is_file())


def is_shipped(name: str) -> bool:
    """Return whether the file of this path belongs into the wheel."""
    folders = (NAME, *ROOMS, SHIPPED_FIXTURES)
    of_packages = name.startswith(tuple(f"{folder}/" for folder in folders))
    return of_packages and "tests" not in Path(name).parts


def name_in_wheel(name: str) -> str:
    """Return the path in the wheel of a file of the checkout."""
    return name if name.startswith(f"{NAME}/") else f"{NAME}/packages/{name}"


def copy_sources(folder: Path) -> Path:
    """Copy the tracked files to *folder*, as a clone does."""
    for name in tracked_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(SOURCES / name, folder / name)
    return folder


def build_wheel(folder: Path) -> Path:
    """Build the wheel in *folder*, with pip as a user would."""
    sources = copy_sources(folder / "sources")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    run([*pip, "-w", folder, sources], cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def names_in(wheel: Path) -> set[str]:
    """Return the files in *wheel* beside those about the wheel itself."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def clean_environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a command that is independent of this run."""
    kept = {name: value for name, value in os.environ.items() if name not in _OURS}
    return {**kept, **more}


def run(
    command: Iterable[str | Path],
    *,
    cwd: Path,
    codes: tuple[int, ...] = (0,),
    timeout_s: float = 300,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run *command*, see to its exit code, and return what it printed."""
    words = [str(word) for word in command]
    ended = subprocess.run(
        words,
        cwd=cwd,
        env=clean_environment(environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    what = f"{' '.join(words)} ended with {ended.returncode}:\n{ended.stdout[-4000:]}"
    assert ended.returncode in codes, what
    return ended.stdout


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An environment that ``rmqc`` was installed into."""

    folder: Path

    @classmethod
    def from_wheel(cls, wheel: Path, folder: Path) -> Installed:
        """Make an environment in *folder* and install *wheel* there."""
        venv.create(folder, with_pip=False)
        made = cls(folder=folder)
        lent = Path(sysconfig.get_path("purelib"))
        made.library.joinpath("lent.pth").write_text(f"{lent}\n", encoding="utf-8")
        pip = [sys.executable, "-m", "pip", f"--python={folder}/bin/python"]
        words = ["install", "--quiet", "--no-deps", "--no-index"]
        run([*pip, *words, wheel], cwd=folder)
        return made

    @property
    def library(self) -> Path:
        """The folder that the packages are in."""
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    @property
    def rmqc(self) -> Path:
        """The command."""
        return self.folder / "bin" / "rmqc"

    def files(self) -> dict[str, int]:
        """Return the sizes of all that is installed but Python's own caches."""
        return {
            str(path.relative_to(self.library)): path.stat().st_size
            for path in self.library.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

"""
Kaitai Struct's own compiler, from npm, and the Python module that it makes.

The compiler is pinned and kept in the user's cache. Missing node or npm is an error,
because these tests prove that the description compiles.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

from filelock import FileLock

from java_runtime.user_cache import cache_directory
from rocketmq_conformance.paths import module_command

PACKAGES = ("kaitai-struct-compiler@0.11.0", "js-yaml@4.1.0")
SCRIPT = Path(__file__).with_name("compile_ksy.mjs")
DEADLINE_S = 180.0


class NoCompilerError(Exception):
    """Kaitai's compiler cannot be had."""


def compiled_description(directory: Path) -> ModuleType:
    """Return the readers compiled from a description exported just now."""
    description = directory / "rocketmq.ksy"
    words = ["spec", "export", "--format", "ksy", "--out", str(description)]
    subprocess.run(module_command("cli", *words), check=True)
    modules = compiler_modules()
    node = _program("node")
    _run([node, SCRIPT, modules, description, directory])
    return _load(directory / "rocketmq.py")


def compiler_modules() -> Path:
    """Return the folder that the compiler is installed in, installing it first."""
    name = "kaitai-" + "-".join(one.rpartition("@")[2] for one in PACKAGES)
    folder = cache_directory() / name
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "node_modules" / "kaitai-struct-compiler").is_dir():
            words = ["install", "--ignore-scripts", "--no-audit", "--no-fund"]
            _run([_program("npm"), *words, "--prefix", folder, *PACKAGES])
    return folder


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise NoCompilerError(f"no {name} on the PATH, and Kaitai's compiler needs it")
    return found


def _run(words: list[str | Path]) -> None:
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    if done.returncode != 0:
        raise NoCompilerError(f"{words[0]} failed: {done.stderr.strip()[-2000:]}")


def _load(path: Path) -> ModuleType:
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module

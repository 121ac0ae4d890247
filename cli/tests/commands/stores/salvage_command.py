"""``rmqc`` on generated stores, and hashes of what it writes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from click.testing import CliRunner

from cli.main import main

PAGE = 4096


def run(*words: str | Path) -> tuple[int, str]:
    """Return exit code and output of ``rmqc`` with *words*."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    return result.exit_code, result.output


def content(directory: Path) -> dict[str, str]:
    """Return a hash of each file below *directory*."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file()
    }


def log_of(store: Path) -> dict[str, str]:
    """Return a hash of each commit-log file."""
    return content(store / "commitlog")

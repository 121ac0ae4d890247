"""
The package ``rocketmq`` of the Python registry, which contains the C++ client.

Its wheel has librocketmq.so of the sources between the releases 1.2.3 and 1.2.4 of
apache/rocketmq-client-cpp. It is for Linux on x86-64. It needs no installation where
the package can be imported already.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from java_runtime.user_cache import cache_directory

PACKAGE = "rocketmq==0.4.4"
PIP_TIMEOUT_S = 300


def make_importable() -> None:
    """Make ``rocketmq`` importable, from the user's cache where it is not installed."""
    if importlib.util.find_spec("rocketmq") is None:
        sys.path.append(str(_cached()))


def _cached() -> Path:
    """Return the directory that contains the package; pip fills it once."""
    folder = cache_directory() / "adapters" / PACKAGE
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as draft:
            whole = Path(draft, "whole")
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            words = [*pip, "--only-binary", ":all:", "--target", str(whole), PACKAGE]
            subprocess.run(
                words, check=True, timeout=PIP_TIMEOUT_S, stdout=sys.stderr.fileno()
            )
            try:
                whole.replace(folder)
            except OSError:
                if not folder.exists():  # else another run was first
                    raise
    return folder

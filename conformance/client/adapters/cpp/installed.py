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
from pathlib import Path

from java_runtime.user_cache import made_once

PACKAGE = "rocketmq==0.4.4"
PIP_TIMEOUT_S = 300


def make_importable() -> None:
    """Make ``rocketmq`` importable, from the user's cache where it is not installed."""
    if importlib.util.find_spec("rocketmq") is None:
        sys.path.append(str(made_once(f"adapters/{PACKAGE}", _install)))


def _install(folder: Path) -> None:
    """Let pip put the package into *folder*."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    words = [*pip, "--only-binary", ":all:", "--target", str(folder), PACKAGE]
    subprocess.run(words, check=True, timeout=PIP_TIMEOUT_S, stdout=sys.stderr.fileno())

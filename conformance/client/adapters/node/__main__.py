"""
Put the Node client ali-ons under test.

    python -m conformance.client.adapters.node

The client comes from the npm registry when it is first needed, without running scripts,
and stays in the user's cache. Then this process becomes Node.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from java_runtime.user_cache import cache_directory

CLIENT = "ali-ons@3.12.0"
PROGRAM = Path(__file__).with_name("adapter.cjs")
NPM_TIMEOUT_S = 300


def installed() -> Path:
    """Return the folder with the client and what it needs."""
    folder = cache_directory() / "adapters" / CLIENT
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as draft:
            npm = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit"]
            words = [*npm, "--prefix", draft, CLIENT]
            subprocess.run(
                words, check=True, timeout=NPM_TIMEOUT_S, stdout=sys.stderr.fileno()
            )
            try:
                Path(draft, "node_modules").replace(folder)
            except OSError:
                if not folder.exists():  # else another run was first
                    raise
    return folder


def main() -> int:
    """Become the adapter."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        sys.stderr.write("there is no Node here\n")
        return 3
    environment = {**os.environ, "NODE_PATH": str(installed())}
    os.execve(node, [node, str(PROGRAM)], environment)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    sys.exit(main())

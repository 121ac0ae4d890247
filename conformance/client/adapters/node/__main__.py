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
from pathlib import Path

from java_runtime.user_cache import made_once

CLIENT = "ali-ons@3.12.0"
PROGRAM = Path(__file__).with_name("adapter.cjs")
NPM_TIMEOUT_S = 300


def install(folder: Path) -> None:
    """Fetch the client and what it needs into *folder*."""
    npm = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit"]
    words = [*npm, "--prefix", str(folder.parent), CLIENT]
    subprocess.run(words, check=True, timeout=NPM_TIMEOUT_S, stdout=sys.stderr.fileno())
    folder.with_name("node_modules").replace(folder)


def main() -> int:
    """Become the adapter."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        sys.stderr.write("there is no Node here\n")
        return 3
    modules = made_once(f"adapters/{CLIENT}", install)
    environment = {**os.environ, "NODE_PATH": str(modules)}
    os.execve(node, [node, str(PROGRAM)], environment)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    sys.exit(main())

"""The command ``rmqc``, also as ``python -m rocketmq_conformance``."""

from __future__ import annotations

import importlib
import sys

from rocketmq_conformance.paths import add_to_path

INTERRUPTED = 130


def main() -> None:
    """Run the command with the project's own packages first on the path."""
    try:
        add_to_path()
        importlib.import_module("cli.main").main(prog_name="rmqc")
    except KeyboardInterrupt:  # before the command could handle it
        sys.stderr.write("Error: interrupted\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()

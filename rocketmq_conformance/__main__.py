"""The command ``rmqc``, also as ``python -m rocketmq_conformance``."""

from __future__ import annotations

import importlib

from rocketmq_conformance.paths import add_to_path


def main() -> None:
    """Run the command with the project's own packages first on the path."""
    add_to_path()
    importlib.import_module("cli.main").main()


if __name__ == "__main__":
    main()

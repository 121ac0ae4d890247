"""
Put the Rust client rocketmq-client-rust under test.

    python -m conformance.client.adapters.rust

The program beside this file is built when it is first needed, by the versions in
Cargo.lock. The first build takes minutes: the client has some 350 dependencies.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from conformance.client.adapters.compiled import find_tool, run, run_tool
from java_runtime.user_cache import cache_directory

FOLDER = Path(__file__).parent
USUAL = Path.home() / ".cargo" / "bin"
"""Folder of Rust's own installer."""
SOON_MS = "2000"
LOCK_LIVES_MS = "10000"
"""Pause between rebalances, and between locks; 20 s by default."""


def main() -> int:
    """Run the adapter until its standard input ends."""
    return run(
        FOLDER,
        language="Rust",
        tool=find_tool("cargo", USUAL),
        suffixes=(".rs", ".toml", ".lock"),
        build=_build,
        variables=_variables,
    )


def _build(cargo: str, sources: Path, program: Path) -> None:
    target = cache_directory() / "adapters" / "rust-target"
    words = [cargo, "build", "--locked", "--target-dir", str(target)]
    run_tool(words, sources, {"PATH": _path(cargo)})
    (target / "debug" / "adapter").replace(program)


def _path(cargo: str) -> str:
    """Return a PATH on which Cargo finds the compiler beside it."""
    return os.pathsep.join([str(Path(cargo).parent), os.environ.get("PATH", "")])


def _variables(home: str) -> dict[str, str]:
    """Return the client's settings: its periods, and offsets of broadcasting groups."""
    return {
        "HOME": home,
        "rocketmq.client.localOffsetStoreDir": home,
        "rocketmq.client.rebalance.waitInterval": SOON_MS,
        "rocketmq.client.rebalance.lockInterval": SOON_MS,
        "rocketmq.client.rebalance.lockMaxLiveTime": LOCK_LIVES_MS,
    }


if __name__ == "__main__":
    sys.exit(main())

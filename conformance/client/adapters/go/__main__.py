"""
Put the Go client github.com/apache/rocketmq-client-go under test.

    python -m conformance.client.adapters.go

The program beside this file is built when it is first needed. Go's tool fetches the
client by the versions in go.mod and the sums in go.sum.
"""

from __future__ import annotations

import sys
from pathlib import Path

from conformance.client.adapters.compiled import find_tool, run, run_tool

FOLDER = Path(__file__).parent
USUAL = Path("/usr/local/go/bin")
"""Folder of Go's own installer."""


def main() -> int:
    """Run the adapter until its standard input ends."""
    return run(
        FOLDER,
        language="Go",
        tool=find_tool("go", USUAL),
        suffixes=(".go", ".mod", ".sum"),
        build=_build,
        variables=_variables,
    )


def _build(go: str, sources: Path, program: Path) -> None:
    words = [go, "build", "-mod=readonly", "-o", str(program), "."]
    run_tool(words, sources, {"GOFLAGS": "", "GOTOOLCHAIN": "local"})


def _variables(home: str) -> dict[str, str]:
    """Return the client's settings: offsets of broadcasting groups, and its log."""
    return {
        "rocketmq.client.localOffsetStoreDir": home,
        "ROCKETMQ_GO_LOG_LEVEL": "warn",
    }


if __name__ == "__main__":
    sys.exit(main())

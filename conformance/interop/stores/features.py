"""
Store of a real broker after every feature of its release's Java client.

The features are those of docs/interop.md. The store is kept as the stopped broker left
it, and as a broker left it that was killed while some of them ran again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from conformance.harness.targets.target import parse_target
from conformance.interop.handover.handover import target_text
from conformance.interop.programs.cell import JAVA, SETTINGS, Cell, offers
from conformance.interop.programs.features import NAMES
from conformance.interop.programs.run import run
from conformance.interop.stores.settings import SMALL_FILES

CONF = {
    **SMALL_FILES,
    **SETTINGS,
    # For the feature "large body": one file more for each of them.
    "mappedFileSizeCommitLog": str(5 * 1024 * 1024),
    "maxMessageSize": str(4 * 1024 * 1024),
    "traceTopicEnable": "true",
}
AGAIN = ("batch send", "ordered", "delay", "transaction", "retry", "dead letters")
"""Features that run again before the broker is killed."""


def leave_features(release: str, directory: Path) -> dict[str, Path]:
    """Run all features at *release*; return the stopped and the killed store."""
    store, stopped = directory / "store", directory / "stopped"
    _run(release, store, directory, NAMES, is_killed=False)
    shutil.copytree(store, stopped)
    _run(release, store, directory, AGAIN, is_killed=True)
    return {"features, stopped": stopped, "features, killed": store}


def _run(
    release: str,
    store: Path,
    directory: Path,
    names: tuple[str, ...],
    *,
    is_killed: bool,
) -> None:
    """Run features of the Java client of *release*, and end its broker."""
    text, client = target_text(release), f"{JAVA}{release}"
    cells = [
        Cell(client=client, feature=name, server=release)
        for name in names
        if offers(client, name)
    ]
    with parse_target(text, conf=CONF, store=store) as target:
        for cell in run(cells, target, directory):
            assert cell.outcome is not None, cell.name
        if is_killed:
            target.kill()
        else:
            target.stop()

"""Store of several releases, each of which went on with it: upward, then downward."""

from __future__ import annotations

from pathlib import Path

from conformance.harness.releases import PINNED
from conformance.interop.stores.traffic import fill
from conformance.interop.stores.undamaged_stores import broker_of, copy_of


def leave_successions(directory: Path) -> dict[str, Path]:
    """Let each release write in turn; return the store after each of them."""
    store, kept = directory / "store", {}
    for number, release in enumerate((*PINNED, *reversed(PINNED[:-1]))):
        with broker_of(release, store) as (target, broker):
            fill(broker, f"{number}-{release}", count=60)
            target.stop()
        name = f"{number} after {release}"
        kept[name] = copy_of(store, directory / name.replace(" ", "-"))
    return kept

"""
The recorded stores that are damaged, and what real releases then made of them.

``fixtures/starts/RELEASE`` has the store that a broker of the release wrote and
``outcomes.json``, by damage. ``python -m fixtures.record.starts`` records both.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from conformance.damages.damage import Damage
from conformance.damages.served_messages import Message, messages_in, still_known
from conformance.damages.starts import Outcome, Start
from conformance.harness.report.manifest import FIXTURES, read_manifest

FOLDER = FIXTURES / "starts"
STORE, OUTCOMES = "store", "outcomes.json"


def recorded_releases() -> list[str]:
    """Return the releases whose outcomes were recorded to the end."""
    paths = (Path(path) for path in read_manifest())
    return sorted(path.name for path in paths if path.parent.name == FOLDER.name)


def store_of(release: str) -> Path:
    """Return the store that a broker of *release* wrote."""
    return FOLDER / release / STORE


def recorded_outcomes(release: str) -> Mapping[str, Outcome]:
    """Return by damage what a broker of *release* made of the store."""
    file = FOLDER / release / OUTCOMES
    if not file.exists():
        return {}
    outcomes = json.loads(file.read_text(encoding="utf-8"))
    assert isinstance(outcomes, dict)
    return outcomes


def write_outcomes(release: str, outcomes: Mapping[str, Outcome]) -> None:
    """Write *outcomes*, a line each, so that a change is a small diff."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(outcome, sort_keys=True)}"
        for name, outcome in outcomes.items()
    ]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (FOLDER / release / OUTCOMES).write_text(text, encoding="utf-8")


def damaged_copy(release: str, damage: Damage, directory: Path) -> Path:
    """Return a copy of the release's store, below *directory*, with the damage done."""
    store = directory / STORE
    # Old files may be deleted for their age: a copy has the time of the copy.
    shutil.copytree(store_of(release), store, copy_function=shutil.copyfile)
    damage.apply_to(store)
    return store


def tree_of(store: Path) -> dict[str, bytes]:
    """Return every file of *store* and what is in it; directories are there, too."""
    return {
        path.relative_to(store).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in store.rglob("*")
    }


def known_messages(release: str, damaged: Path) -> list[Message]:
    """Return the messages of the store to which the *damaged* copy refers."""
    return still_known(messages_in(store_of(release)), damaged)


def observe(release: str, damage: Damage, directory: Path) -> Outcome:
    """Start a real broker on a damaged copy below *directory*; return what it made."""
    store = damaged_copy(release, damage, directory)
    home = directory / "home"
    home.mkdir(parents=True)
    start = Start(release=release, store=store, home=home)
    return start.observe(known_messages(release, store))

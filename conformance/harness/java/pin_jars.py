"""
Write ``jars.lock``: resolve what each release depends on, and pin it.

``python -m conformance.harness.java.pin_jars`` pins every set that the project uses.
With coordinates (and ``alone`` for a module without its dependencies) it adds one set.
Existing pins are kept, and checked against the retrieved jars.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from conformance.harness.java.apache import modules
from conformance.harness.java.ivy import JarsUnavailableError, run_ivy
from conformance.harness.java.jars import LOCK_FILE, Coordinate, file_sha256, set_key
from conformance.harness.releases import PINNED

ALONE = (
    "org.apache.rocketmq:rocketmq-example:4.6.0",
    "javax.xml.bind:jaxb-api:2.3.1",
    "org.apache.hadoop:hadoop-client-minicluster:3.4.2",
    "org.eclipse.jdt:ecj:3.40.0",
)
"""Modules that are of use without what they need."""

HEADING = """\
# Every jar that the real releases need, and its SHA-256. Written by
# `python -m conformance.harness.java.pin_jars`; read by jars.py beside it.
"""


def retrieve(coordinates: Sequence[str], *, transitive: bool) -> dict[str, str]:
    """Return the SHA-256 of each jar that Ivy retrieves for *coordinates*."""
    # "default" of a Maven module is what runs it: no tests, sources or optional parts.
    dependencies = [
        f"<dependency org={quoteattr(wanted.organisation)}"
        f" name={quoteattr(wanted.module)} rev={quoteattr(wanted.revision)}"
        f" transitive='{str(transitive).lower()}'"
        f" conf='default->{'default' if transitive else 'master'}'/>"
        for wanted in map(Coordinate.parse, coordinates)
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run_ivy(folder, dependencies, poms=True)
        jars = sorted((folder / "jars").rglob("*.jar"))
        return {
            str(_coordinate(folder / "jars", jar)): file_sha256(jar) for jar in jars
        }


def _coordinate(root: Path, jar: Path) -> Coordinate:
    *organisation, module, revision, name = jar.relative_to(root).parts
    rest = name.removeprefix(f"{module}-{revision}").removesuffix(".jar")
    return Coordinate(".".join(organisation), module, revision, rest.removeprefix("-"))


def pin(lock: dict[str, dict[str, object]], key: str) -> None:
    """Add the set *key* to *lock*."""
    *coordinates, last = key.split()
    alone = last == "alone"
    found = retrieve(
        coordinates if alone else [*coordinates, last], transitive=not alone
    )
    for jar, sha256 in found.items():
        if lock["sha256"].setdefault(jar, sha256) != sha256:
            raise JarsUnavailableError(f"{jar} is pinned with another SHA-256")
    lock["sets"][key] = sorted(found)


def render(lock: dict[str, dict[str, object]]) -> str:
    """Return *lock* as TOML, sorted so that a change is a small diff."""
    lines = [HEADING, "[sets]"]
    for key, jars in sorted(lock["sets"].items()):
        assert isinstance(jars, list)
        lines += [f'"{key}" = [', *(f'  "{jar}",' for jar in jars), "]"]
    lines += ["", "[sha256]"]
    lines += [f'"{jar}" = "{pin}"' for jar, pin in sorted(lock["sha256"].items())]
    return "\n".join(lines) + "\n"


def main(words: Sequence[str]) -> None:
    """Pin the set that *words* name, or all sets of the project."""
    lock: dict[str, dict[str, object]] = {"sets": {}, "sha256": {}}
    if LOCK_FILE.exists():
        lock = tomllib.loads(LOCK_FILE.read_text(encoding="utf-8"))
    keys = [" ".join(words)] if words else _all_keys()
    for key in keys:
        sys.stderr.write(f"pinning {key}\n")
        pin(lock, key)
        LOCK_FILE.write_text(render(lock), encoding="utf-8")


def _all_keys() -> list[str]:
    together = [set_key(modules(release), transitive=True) for release in PINNED]
    return together + [set_key([module], transitive=False) for module in ALONE]


if __name__ == "__main__":
    main(sys.argv[1:])

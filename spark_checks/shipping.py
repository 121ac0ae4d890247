"""
What an audit brings to the workers of a cluster: one archive.

A worker of a cluster has a Python with numpy, pyarrow and isal, compiled for its
machine, and pyspark from its Spark. It does not know this project, nor the library in
whose words the layouts are written. Both are plain Python and travel with the audit.
"""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The directory that holds the packages which workers need."""
OWN = ("spec", "spark_checks")
OTHERS = ("construct",)
"""Packages of others that are plain Python, and rarely on a cluster."""


def zip_for_workers(directory: Path) -> Path:
    """Return an archive, made in *directory*, of the packages that workers import."""
    archive = directory / "rmqc-workers.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for source, name in _sources():
            file.write(source, name)
    return archive


def _sources() -> Iterator[tuple[Path, Path]]:
    """Yield every module that is shipped, and its name in the archive."""
    roots = [(ROOT, package) for package in OWN]
    roots += [(_parent_of(package), package) for package in OTHERS]
    for root, package in roots:
        for source in sorted((root / package).rglob("*.py")):
            if "tests" not in source.parts[len(root.parts) :]:
                yield source, source.relative_to(root)


def _parent_of(package: str) -> Path:
    """Return the directory that holds an installed *package*."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed", name=package)
    return Path(found.origin).parents[1]

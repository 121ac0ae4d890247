"""
Archive of Python packages for the workers of a cluster.

A worker has a Python with numpy, pyarrow and msgspec, and Spark's pyspark. It lacks
this project and construct, which are pure Python and travel with the audit. Spark
unpacks the archive in the working directory of each executor.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Directory that holds the project's packages."""
OWN = ("spec", "columns", "java_runtime", "spark_checks")
"""Packages that an audit's workers need."""
ARCHIVE = "rmqc-workers.zip"
SHIPPED = "rmqc-workers"
"""Directory of an executor with the unpacked archive."""
PACKED = (".py", ".toml")
DIGEST = "rmqc-workers.sha256"
"""File of the archive that names its content."""


def zip_for_workers(archive: Path, packages: Sequence[str] = OWN) -> None:
    """Create the *archive* of construct and these *packages* of the project."""
    content = hashlib.sha256()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for source, name in _sources(packages):
            file.write(source, name)
            content.update(f"{name}\n".encode() + source.read_bytes())
        file.writestr(DIGEST, content.hexdigest())


def _sources(packages: Sequence[str]) -> Iterator[tuple[Path, Path]]:
    """Yield every file to pack, and its name in the archive."""
    import construct  # late: workers, which read DIGEST, start 25 ms faster

    roots = [(ROOT, package) for package in packages]
    roots.append((Path(construct.__file__).parents[1], construct.__name__))
    for root, package in roots:
        for source in sorted((root / package).rglob("*.*")):
            is_product = "tests" not in source.parts[len(root.parts) :]
            if is_product and source.suffix in PACKED:
                yield source, source.relative_to(root)

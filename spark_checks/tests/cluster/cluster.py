"""
A Spark cluster whose workers have a Python with few packages, without this project.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from bench.processes.standalone_cluster import Cluster, standalone_cluster

PACKAGES = ("numpy", "pyarrow", "msgspec")
"""Packages that workers need."""
KERNEL_PACKAGES = (*PACKAGES, "numba", "llvmlite", "isal")
"""Packages with which workers compile kernels."""


@contextmanager
def bare_cluster(
    directory: Path, packages: Sequence[str] = PACKAGES, **more: str
) -> Iterator[Cluster]:
    """Yield a cluster of two workers that have *packages* only."""
    python = bare_python(directory, packages)
    with standalone_cluster(directory, python, more) as cluster:
        yield cluster


def bare_python(directory: Path, packages: Sequence[str] = PACKAGES) -> Path:
    """Create a Python in *directory* with *packages* only."""
    site = directory / "site"
    site.mkdir(parents=True)
    for package in packages:
        found = find_spec(package)
        if found is None or found.origin is None:
            raise ModuleNotFoundError(f"{package} is not installed", name=package)
        package_directory = Path(found.origin).parent
        (site / package).symlink_to(package_directory)
        libraries = package_directory.parent / f"{package}.libs"
        if libraries.exists():
            (site / libraries.name).symlink_to(libraries)
    script = directory / "python"
    script.write_text(
        "#!/bin/bash\n"
        f'export PYTHONPATH="$PYTHONPATH:{site}"\n'
        f'exec "{sys.executable}" -S "$@"\n',  # without site there is no .pth file
        encoding="utf-8",
    )
    script.chmod(0o755)
    return script

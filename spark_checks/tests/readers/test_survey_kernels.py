"""
Surveys have the same result with kernels and without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from columns.tests.with_kernels import with_kernels
from spark_checks.session.worker_archive import ARCHIVE, OWN, zip_for_workers
from spark_checks.situation import Situation
from spark_checks.store_files import list_store
from spark_checks.survey.survey import Survey, parts_of, survey_of
from spark_checks.tests.readers.compared_surveys import comparable

ROOT = Path(__file__).resolve().parents[3]
STORES = sorted((ROOT / "fixtures" / "store").glob("*-*"))


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> Iterator[None]:
    with with_kernels():
        yield


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.name)
def test_a_store_has_the_same_survey(path: Path, tmp_path: Path) -> None:
    for store in (path, _damaged(path, tmp_path)):
        with with_kernels(are_wanted=False):
            wanted = _survey(store)
        assert _survey(store) == wanted


def _damaged(path: Path, directory: Path) -> Path:
    """Return a copy of the store at *path* with one byte in a hundred changed."""
    store = directory / path.name
    for file in sorted(path.rglob("*")):
        if file.is_file():
            data = bytearray(file.read_bytes())
            for at in range(777, len(data), 997):
                data[at] = (data[at] + at) % 256
            place = store / file.relative_to(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    return store


def _survey(path: Path) -> Any:
    """Return the comparable survey of the store at *path*."""
    options = Situation(key_ranges=[(-1, 2**62)], delays={1: 1000, 3: 10_000})
    parts = parts_of(list_store(str(path)), 1)
    found = [survey_of(str(path), some, options) for some in parts]
    whole = found[0]
    for other in found[1:]:
        whole = Survey.plus(whole, other)
    return comparable(whole)


@pytest.mark.parametrize("kept", ["nowhere", "shipped"])
def test_without_a_place_for_them_the_fallbacks_run(kept: str, tmp_path: Path) -> None:
    place = tmp_path / "cache"
    place.write_text("no directory")
    origin = {"shipped": _zipped, "nowhere": _unwritable}[kept](tmp_path)
    program = (
        "from columns.kernels.install import install_kernels, __file__ as file;"
        "from columns.log_batch import follow_sizes;"
        "from java_runtime.user_cache import cache_path;"
        "print(file, install_kernels(cache_path()));"
        "print(follow_sizes(bytes(9), 0, most=1)[1])"
    )
    here = {"PYTHONPATH": str(origin), "XDG_CACHE_HOME": str(place)}
    run = subprocess.run(  # our own words
        [sys.executable, "-c", program],
        env={**os.environ, **here},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split()[1:] == ["False", "0"]
    assert run.stdout.startswith(str(origin))


def _zipped(directory: Path) -> Path:
    """Return the packages in an archive, which has no place for a kernel cache."""
    zip_for_workers(directory / ARCHIVE)
    return directory / ARCHIVE


def _unwritable(directory: Path) -> Path:
    """Return a copy of the packages with an unwritable kernel cache."""
    for name in OWN:
        ignored = shutil.ignore_patterns("tests", "__pycache__")
        shutil.copytree(ROOT / name, directory / "copy" / name, ignore=ignored)
    (directory / "copy" / "columns" / "kernels" / "__pycache__").write_text("")
    return directory / "copy"

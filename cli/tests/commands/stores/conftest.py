"""A generated store for the tests of ``rmqc salvage``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.tests.commands.stores.salvage_command import run


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sound store, generated."""
    store = tmp_path_factory.mktemp("sound") / "store"
    code, output = run("generate", store, "--size", "1M", "--topics", "2")
    assert code == 0, output
    return store


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    """Return a copy of the sound store."""
    return Path(shutil.copytree(sound, tmp_path / "store"))

"""One Spark session for all tests of this room."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest
from pyspark.sql import SparkSession

from spark_checks.session import spark_session
from spark_checks.tests.command import Runner, run_alone
from spark_checks.tests.ways import fast_ways


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let pass that PySpark leaves the closing of its sockets to the collector."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            for ignored in (
                "ignore::ResourceWarning",
                "ignore::pytest.PytestUnraisableExceptionWarning",
            ):
                item.add_marker(pytest.mark.filterwarnings(ignored))


@pytest.fixture(scope="module", params=["plain", "fast"])
def both_ways(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let a test be run twice: by plain functions, and by their fast twins."""
    with fast_ways() if request.param == "fast" else nullcontext():
        yield


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Lend a local session."""
    with spark_session("local[2]") as session:
        yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def run_audit(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return ``rmqc audit``, which takes the session of all tests for its own."""

    @contextmanager
    def lent(_master: str, *, has_sources: bool, size: int) -> Iterator[SparkSession]:
        assert not has_sources  # the command asks for them where it wants tables
        assert size > 0
        yield spark

    monkeypatch.setattr("spark_checks.session.spark_session", lent)
    return run_alone

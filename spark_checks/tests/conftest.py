"""
One Spark session for all tests of this package.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_checks.progress import Progress
from spark_checks.session.session import spark_session
from spark_checks.session.settings import QUERIES_OF_FEW_ROWS
from spark_checks.tests.commands.command import Runner, run_alone

pytest.register_assert_rewrite("spark_checks.tests.fields")
# A time limit would fail tests on a busy machine.
settings.register_profile("untimed", deadline=None)
if settings.get_current_profile_name() == "default":
    settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignore that PySpark leaves sockets and processes to the garbage collector.

    Any later test may be the one that collects them.
    """
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            for ignored in (
                "ignore::ResourceWarning",
                "ignore::pytest.PytestUnraisableExceptionWarning",
            ):
                item.add_marker(pytest.mark.filterwarnings(ignored))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Yield a local session, which interprets its queries.

    Its queries are those of a small store, and are shuffled to one partition.
    """
    settings = {**QUERIES_OF_FEW_ROWS, "spark.sql.shuffle.partitions": "1"}
    with spark_session("local[2]") as session:
        for name, value in settings.items():
            session.conf.set(name, value)
        yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def run_audit(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return ``rmqc audit`` on the session of all tests."""

    @contextmanager
    def lent(_master: str, *, size: int, progress: Progress) -> Iterator[SparkContext]:
        assert size > 0
        assert progress is not None
        yield spark.sparkContext

    monkeypatch.setattr("spark_checks.session.session.spark_context", lent)
    return run_alone

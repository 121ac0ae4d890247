"""
The queries of docs/spark_questions.md give the results on the page.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_checks import views
from spark_checks.session import session
from spark_checks.tests.commands.command import run_alone
from spark_checks.views import ExportError, check_directory, export, register, views_of

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "spark_questions.md").read_text(encoding="utf-8")
STORE = ROOT / "fixtures" / "store" / "4.6.0-stopped"
ANSWERED = re.findall(r"```sql\n(.*?)```\n\n```text\n(.*?)```\n", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def exported(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> SparkSession:
    """Return a session with the tables of a recorded store, read from Parquet."""
    directory = tmp_path_factory.mktemp("tables")
    names = views_of(spark, str(STORE))
    export(spark, str(STORE), directory)
    register({name: spark.read.parquet(str(directory / name)) for name in names})
    return spark


def test_there_are_ten_questions() -> None:
    titles = re.findall(r"^## (\d+)\.", PAGE, re.MULTILINE)
    assert titles == [str(number) for number in range(1, 11)]
    assert len(ANSWERED) == len(titles)


@pytest.mark.parametrize("number", range(len(ANSWERED)), ids=lambda n: str(n + 1))
def test_a_question_is_answered_as_the_page_says(
    exported: SparkSession, number: int
) -> None:
    question, response = ANSWERED[number]
    names, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in response.splitlines()
        if line.startswith("|")
    ]
    found = exported.sql(question)
    assert found.columns == names
    assert [[_shown(value) for value in row] for row in found.collect()] == rows


def _shown(value: object) -> str:
    """Return *value* in Spark's output format."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return "NULL" if value is None else str(value)


def test_consumed_offsets_are_those_of_a_broker_with_lmqs(
    spark: SparkSession, tmp_path: Path
) -> None:
    config = shutil.copytree(STORE, tmp_path / "store") / "config"
    consumed = views_of(spark, str(config.parent))["consumed"].count()
    (config / "consumerOffset.json").rename(config / "lmqConsumerOffset.json")
    assert views_of(spark, str(config.parent))["consumed"].count() == consumed > 0


def test_tables_are_not_written_over_others(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(ExportError, match="is not empty"):
        check_directory(tmp_path, str(STORE))


def test_a_directory_of_tables_is_checked_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "spark_context", _spark_starts)
    (tmp_path / "mine").touch()
    result = run_alone(STORE, "--export", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is not empty" in result.stderr


def _spark_starts(*_: object, **__: object) -> None:
    raise AssertionError("Spark starts")


@pytest.mark.parametrize("inside", ["", "tables"])
def test_tables_are_not_written_into_the_store(tmp_path: Path, inside: str) -> None:
    link = tmp_path / "link"
    link.symlink_to(STORE)
    with pytest.raises(ExportError, match="lies in the store itself"):
        check_directory(link / inside, str(STORE))


@pytest.mark.parametrize("directory", ["/proc", "/proc/tables"])
def test_tables_that_cannot_be_written_are_one_line(
    spark: SparkSession, directory: str
) -> None:
    with pytest.raises(ExportError, match=f"^{directory} cannot be written: .+$"):
        export(spark, str(STORE), Path(directory))


def test_a_full_disk_below_the_tables_is_named(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Task failed\nCaused by: java.io.IOException: No space left on device\n"

    def full(*_: object) -> None:
        raise PySparkException(text)

    monkeypatch.setattr(views, "views_of", full)
    line = rf"^{tmp_path} cannot be written: No space left on device$"
    with pytest.raises(ExportError, match=line):
        export(spark, str(STORE), tmp_path)

"""
The page of questions lists every data source with its columns, in order.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spark_checks.readers.schemas import COLUMNS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "spark_questions.md"
DOCUMENTED = dict(
    re.findall(
        r"^\| `(rocketmq\.\w+)` \|.*\| ([^|]*) \|$", PAGE.read_text(), re.MULTILINE
    )
)


def test_every_source_is_documented() -> None:
    from spark_checks.readers.register import SOURCES

    names = {source.name() for source in SOURCES}
    assert set(DOCUMENTED) == names, PAGE


@pytest.mark.parametrize("source", DOCUMENTED)
def test_the_columns_of_a_source_are_documented(source: str) -> None:
    assert DOCUMENTED[source].split(", ") == list(COLUMNS[source]), PAGE

"""Stores by path, URL, pattern and file."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import click
import pytest

from cli.options.store_list import listed_stores


def test_patterns_and_lines_name_each_store_once(tmp_path: Path) -> None:
    first, second, odd = (tmp_path / name for name in ("a", "b", "c[1]"))
    for directory in (first, second, odd):
        directory.mkdir()
    lines = StringIO(f"# brokers of a cluster\n\n {second} \ns3://bucket/*\n")
    found = listed_stores([str(tmp_path / "?"), str(odd)], lines)
    assert found == [str(first), str(second), str(odd), "s3://bucket/*"]


@pytest.mark.parametrize("arguments", [[], ["/nowhere/*/store"], ["", "/store"]])
def test_nothing_to_audit_is_an_error(arguments: list[str]) -> None:
    with pytest.raises(click.UsageError):
        listed_stores(arguments, None)


def test_a_list_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "stores"
    file.write_bytes(b"/store\n\xff\n")
    with (
        file.open(encoding="utf-8") as lines,
        pytest.raises(click.UsageError, match="--stores-from: not a list of paths"),
    ):
        listed_stores([], lines)

"""Pages of the site: every clause has an anchor, and every link a target."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.commands import site as command
from cli.main import main
from cli.options import extras
from cli.options.suites.areas import AREAS
from cli.site import build
from cli.site.build import NAV, made_pages
from cli.site.links import Repository, source_url
from cli.site.specification import (
    layout_pages,
    layouts_of,
    with_whole_words,
)
from spec.layouts import LAYOUTS
from spec.registry import all_clauses

ANCHOR = re.compile(r"\{: #([\w-]+)")
BOOST = re.compile(r"---\nsearch:\n  boost: ([\d.]+)\n---\n")
LINK = re.compile(r"\]\(([\w-]+\.md)#([\w-]+)\)")


@cache
def made() -> Mapping[str, str]:
    """Return the pages of the specification by file name."""
    pages = dict(made_pages(Repository("https://example.org/a")))
    prefix = "specification/"
    return {
        name.removeprefix(prefix): text
        for name, text in pages.items()
        if name.startswith(prefix)
    }


def test_every_clause_and_layout_has_an_anchor() -> None:
    anchors = [found for text in made().values() for found in ANCHOR.findall(text)]
    assert sorted(anchors) == sorted(
        [*all_clauses(), *(f"layout-{name}" for name in LAYOUTS)]
    )


def test_every_link_between_pages_has_a_target() -> None:
    places = {
        (name, anchor)
        for name, text in made().items()
        for anchor in ANCHOR.findall(text)
    }
    links = {link for text in made().values() for link in LINK.findall(text)}
    assert links - places == set()


def test_the_search_lists_clauses_and_the_glossary_before_results(
    tmp_path: Path,
) -> None:
    build.write_pages(tmp_path / "docs", Repository())
    boosts = {
        path.relative_to(tmp_path / "docs").as_posix(): float(found[1])
        for path in (tmp_path / "docs").rglob("*.md")
        if (found := BOOST.match(path.read_text(encoding="utf-8")))
    }
    first = {name for name, boost in boosts.items() if boost > 1}
    areas = {f"specification/{area.lower()}.md" for area in AREAS}
    assert first == {*areas, "glossary.md"}
    assert all(boosts[name] < 1 for name in ("mutants.md", "implementations.md"))


def test_a_layout_and_its_clauses_are_linked_both_ways() -> None:
    (record,) = [one for one in layout_pages() if one.name == "message_record"]
    assert record.clauses
    for one in record.clauses:
        assert record in layouts_of()[one.id]


def test_every_area_has_a_page_in_the_navigation() -> None:
    assert {one.partition("-")[0] for one in all_clauses()} == set(AREAS)
    listed = str(NAV)
    assert all(f"specification/{area.lower()}.md" in listed for area in AREAS)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (
            "4.6.0 org.apache.rocketmq.common.UtilAll#crc32",
            "4.6.0/common/src/main/java/org/apache/rocketmq/common/UtilAll.java",
        ),
        (
            "4.6.0 org.apache.rocketmq.store.ha.HAService$HAClient#run",
            "4.6.0/store/src/main/java/org/apache/rocketmq/store/ha/HAService.java",
        ),
    ],
)
def test_a_source_has_an_address(source: str, path: str) -> None:
    start = "https://github.com/apache/rocketmq/blob/rocketmq-all-"
    assert source_url(source) == start + path


def test_an_installation_names_the_ways_that_build_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "DOCS", tmp_path / "docs")
    for name in ("pyspark", "mkdocs"):  # the extras alone would not help
        monkeypatch.setitem(sys.modules, name, None)
    ended = CliRunner().invoke(main, ["site", "-o", str(tmp_path / "site")])
    assert (ended.exit_code, ended.stderr) == (
        2,
        "Error: rmqc site needs a checkout, installed by pip install -e"
        " '.[audit,site]' or tox -e site: other installations have no docs\n",
    )


def test_a_checkout_without_the_extras_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "DOCS", build.DOCS)
    monkeypatch.setattr(extras, "installed_from", lambda: "/home/me/checkout")
    monkeypatch.setattr(extras, "installer", lambda: "pip install -e")
    monkeypatch.setitem(sys.modules, "mkdocs.commands.build", None)
    ended = CliRunner().invoke(main, ["site", "-o", str(tmp_path / "site")])
    line = "Error: mkdocs is not installed: pip install -e"
    line += " '/home/me/checkout[audit,site]'\n"
    assert (ended.exit_code, ended.stderr) == (3, line)


def test_a_cell_of_one_word_stays_in_one_line_and_links_to_its_clause() -> None:
    row = "| STORE-CRC-001 | 2026-11-25 | STORE-CRC-001, INV-CQ-001 |"
    link = "[STORE-CRC-001](specification/store.md#STORE-CRC-001){: .word }"
    assert with_whole_words(row) == (
        f'| {link} | <span class="word">2026-11-25</span> | STORE-CRC-001, INV-CQ-001 |'
    )


def test_another_source_has_none() -> None:
    assert source_url("experiment: a broker of 4.6.0 on a full disk") is None


def test_links_out_of_docs_go_to_the_repository_or_are_text() -> None:
    text = "See [bench](../bench/README.md#a), [this](audit.md)."
    there = Repository("https://example.org/a").page(text)
    assert (
        there
        == "See [bench](https://example.org/a/bench/README.md#a), [this](audit.md)."
    )
    assert Repository().page(text) == "See bench, [this](audit.md)."

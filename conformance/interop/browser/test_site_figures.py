"""Figures of the site in a real browser that reaches no other address."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Page, Route, expect

from conformance.harness.targets.started.embedded import SOURCES
from conformance.interop.tools.chromium import chromium

TEMPLATES = SOURCES / "cli" / "templates" / "site"
PAGES = {"architecture.md": 1, "state_machines.md": 6}
"""Pages with figures, and the number of figures."""
ADD = """
import sys
from pathlib import Path
from cli.site.figures import add_figure_script
add_figure_script(Path(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a site of the pages with figures."""
    docs, out = tmp_path_factory.mktemp("docs"), tmp_path_factory.mktemp("site")
    for name in PAGES:
        shutil.copy2(SOURCES / "docs" / name, docs / name)
    (docs / "index.md").write_text("# Introduction\n", encoding="utf-8")
    for name in ("site.css", "search.js"):
        shutil.copy2(TEMPLATES / name, docs / name)
    subprocess.run([sys.executable, "-c", ADD, str(docs)], cwd=SOURCES, check=True)
    settings = load_config(
        str(TEMPLATES / "mkdocs.yml"), docs_dir=str(docs), site_dir=str(out)
    )
    build(settings)
    return out


@pytest.fixture(scope="module")
def page() -> Iterator[tuple[Page, list[str]]]:
    """Yield a page without a network, and the addresses that it requested there."""
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.abort()

    with chromium() as browser:
        opened = browser.new_page()
        opened.route(lambda url: not url.startswith("file:"), refuse)
        yield opened, refused


@pytest.mark.parametrize(("name", "count"), PAGES.items())
def test_figures_are_drawn_without_the_internet(
    site: Path, page: tuple[Page, list[str]], name: str, count: int
) -> None:
    opened, refused = page
    opened.goto((site / name).with_suffix(".html").as_uri())
    figures = opened.locator("div.mermaid")
    expect(figures).to_have_count(count, timeout=30_000)
    boxes = [one.bounding_box() for one in figures.all()]
    assert all(box is not None and box["height"] > 100 for box in boxes)
    assert opened.locator("pre.mermaid").count() == 0
    assert refused == []

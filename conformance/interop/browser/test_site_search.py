"""Search of the site in a real browser: ids of clauses, whole and while typing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Page, expect

from conformance.harness.targets.started.embedded import SOURCES
from conformance.interop.tools.chromium import chromium

TEMPLATES = SOURCES / "cli" / "templates" / "site"
PAGES = {
    "index.md": "# Introduction\n\nNothing about ids.\n",
    "conn.md": "# Connections\n\n### WIRE-CONN-001\n\nEach has two ends: 001.\n",
    "wire.md": "# Wire\n\n### WIRE-FRAME-001\n\nA count.\n\n### WIRE-FRAME-002\n\nB.\n",
    "txn.md": "# Decisions\n\n## Begin\n\nA half message of the broker.\n",
    "other.md": "# Halves\n\nTopics.\n\n## Messages\n\nOthers of the name server.\n",
}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and logs nothing."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a small site with the settings of the large one."""
    docs, out = tmp_path_factory.mktemp("docs"), tmp_path_factory.mktemp("site")
    for name, text in PAGES.items():
        (docs / name).write_text(text, encoding="utf-8")
    for name in ("site.css", "search.js"):
        shutil.copy2(TEMPLATES / name, docs / name)
    settings = load_config(
        str(TEMPLATES / "mkdocs.yml"), docs_dir=str(docs), site_dir=str(out)
    )
    build(settings)
    handler = partial(Quiet, directory=str(out))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def page(site: str) -> Iterator[Page]:
    """Yield the first page of the site."""
    with chromium() as browser:
        opened = browser.new_page()
        opened.goto(site)
        yield opened


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("WIRE-FR", ["WIRE-FRAME-001", "WIRE-FRAME-002"]),
        ("wire-frame", ["WIRE-FRAME-001", "WIRE-FRAME-002"]),
        ("WIRE-FRAME-002", ["WIRE-FRAME-002"]),
        ("WIRE-CONN-0", ["WIRE-CONN-001"]),
        ("WIRE-", ["WIRE-CONN-001", "WIRE-FRAME-001", "WIRE-FRAME-002"]),
    ],
)
def test_an_id_finds_its_clauses_while_it_is_typed(
    page: Page, typed: str, found: list[str]
) -> None:
    box = page.locator(".md-search__input")
    box.fill("")
    box.press_sequentially(typed)
    titles = page.locator(".md-search-result__item h2")
    expect(titles).to_have_count(len(found))
    assert sorted(titles.all_text_contents()) == found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("half message", ["Begin"]),
        ("half mess", ["Begin"]),
        ("of the broker", ["Begin"]),
        ("half nothing", []),
    ],
)
def test_a_section_has_all_words(page: Page, typed: str, found: list[str]) -> None:
    box = page.locator(".md-search__input")
    box.fill("")
    box.press_sequentially(typed)
    expect(page.locator(".md-search-result__item h2")).to_have_text(found)

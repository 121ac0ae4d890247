"""
The site, from the specification, the recorded results and the guides of a checkout.

Pages are written to a temporary folder. mkdocs with its theme material builds the site.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cli.options.suites.areas import AREAS
from cli.pages.recorded_pages import recorded_pages
from cli.site.figures import NoScriptError, add_figure_script
from cli.site.links import Repository
from cli.site.specification import (
    ROOT,
    TEMPLATES,
    area_pages,
    diagrams,
    environment,
    layout_pages,
    overview,
    with_whole_words,
)
from spec.layouts import LAYOUTS
from spec.observed import all_evidence
from spec.registry import all_clauses

DOCS = ROOT / "docs"
NAV: list[dict[str, Any]] = [
    {"Introduction": "index.md"},
    {
        "Specification": [
            {"Overview": "specification.md"},
            *(
                {title: f"specification/{area.lower()}.md"}
                for area, title in AREAS.items()
            ),
            {"Header fields": "headers.md"},
            {"Profiles": "profiles.md"},
        ]
    },
    {
        "Implementations": [
            {"By family of clauses": "implementations.md"},
            {"Features of clients": "interop.md"},
            {"Stores of each other": "handover.md"},
            {"Planted faults": "mutants.md"},
        ]
    },
    {
        "Clients": [
            {"Results of clients": "clients.md"},
            {"Their defects": "client_defects.md"},
            {"Write a client": "client_path.md"},
            {"Test a client": "client_adapter.md"},
            {"A misbehaving server": "faults.md"},
            {"The reference client": "client.md"},
        ]
    },
    {"Performance": "performance.md"},
    {
        "Guides": [
            {"Five minutes": "five-minutes.md"},
            {"Targets": "targets.md"},
            {"Reports": "reports.md"},
            {"Your own tests": "pytest.md"},
            {"Two targets compared": "differential.md"},
            {"Test vectors": "vectors.md"},
            {"Wireshark and Kaitai": "dissector.md"},
            {"A damaged store": "damaged_store.md"},
            {"Audits": "audit_invariants.md"},
            {"Two stores compared": "audit_against.md"},
            {"Salvage": "salvage.md"},
            {"Questions in SQL": "spark_questions.md"},
        ]
    },
    {
        "Design": [
            {"Architecture": "architecture.md"},
            {"Glossary": "glossary.md"},
            {"State machines": "state_machines.md"},
            {"Power cuts": "power_cuts.md"},
            {"Evidence": "evidence.md"},
        ]
    },
]
SEARCH_BOOSTS = {
    "glossary.md": 4,
    **dict.fromkeys(("clients.md", "implementations.md", "mutants.md"), 0.1),
    **dict.fromkeys(("headers.md", "profiles.md", "performance.md"), 0.1),
}
"""Weights of pages in the search. Pages of results repeat the words of clauses."""
DECISION_BOOST = 0.1
"""Titles of decisions begin with numbers, as the last parts of clause ids do."""


def build_site(out: Path, repository: Repository) -> str | None:
    """Build the site in *out*, which it replaces.

    Returns the reason if its figures need the internet.
    """
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    with tempfile.TemporaryDirectory(prefix="rmqc-site-") as folder:
        pages = Path(folder, "docs")
        write_pages(pages, repository)
        needs_internet = None
        try:
            add_figure_script(pages)
        except NoScriptError as error:
            needs_internet = str(error)
        settings = Path(folder, "mkdocs.yml")
        text = (TEMPLATES / "mkdocs.yml").read_text(encoding="utf-8")
        settings.write_text(f"{text}nav: {json.dumps(NAV)}\n", encoding="utf-8")
        build(load_config(str(settings), docs_dir=str(pages), site_dir=str(out)))
    return needs_internet


def write_pages(folder: Path, repository: Repository) -> None:
    """Write the Markdown pages and pictures into *folder*."""
    shutil.copytree(DOCS, folder)
    for name, text in made_pages(repository):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for page in [*folder.glob("*.md"), *folder.glob("decisions/*.md")]:
        is_decision = page.parent.name == "decisions"
        boost = DECISION_BOOST if is_decision else SEARCH_BOOSTS.get(page.name, 1)
        head = f"---\nsearch:\n  boost: {boost}\n---\n"
        text = head + repository.page(page.read_text(encoding="utf-8"))
        text = with_whole_words(text) if page.parent == folder else text
        page.write_text(text, encoding="utf-8")
    for name in ("site.css", "search.js"):
        shutil.copy2(TEMPLATES / name, folder / name)


def made_pages(repository: Repository) -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each page that is not a guide."""
    yield from recorded_pages()
    for name, drawn in diagrams():
        yield f"diagrams/{name}.svg", drawn
    for name, text in area_pages(repository):
        yield name, text
    values = {
        "clauses": len(all_clauses()),
        "layouts": len(LAYOUTS),
        "example": all_clauses()["STORE-CRC-001"],
        "releases": list(all_evidence()),
        "areas": [(area, title, *_overview(area)) for area, title in AREAS.items()],
    }
    templates = environment()
    for name, template in (
        ("index.md", "home.md.j2"),
        ("specification.md", "specification.md.j2"),
    ):
        yield name, templates.get_template(template).render(values)


def _overview(area: str) -> tuple[dict[str, int], int]:
    return overview(area), sum(one.area == area for one in layout_pages())

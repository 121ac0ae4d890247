"""
The specification as a page, in Markdown or HTML: clauses, layouts, byte diagrams.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from cli.options.suites.areas import AREAS, area_of, family_of
from cli.runs.suites.clause_tests import clause_tests
from spec.clause import Clause
from spec.derive.drawing import byte_diagram
from spec.derive.table import rows
from spec.derive.walk import UnsuitableLayoutError
from spec.layouts import LAYOUTS
from spec.observed import evidence_line
from spec.registry import all_clauses

ROOT = Path(__file__).parents[2]
TEMPLATES = Path(__file__).parents[1] / "templates"


def markdown_page(diagrams: str | None = None) -> str:
    """Return the page in Markdown; *diagrams* is the folder of its images."""
    return _page("specification.md.j2", diagrams=diagrams)


def html_page() -> str:
    """Return the page in HTML, diagrams included; it needs no other file."""
    return _page("specification.html.j2")


def write_diagrams(folder: Path) -> None:
    """Write the diagram of every layout into *folder*, as ``NAME.svg``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawn in _diagrams().items():
        (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")


def _diagrams() -> dict[str, str]:
    found = {}
    for name, layout in LAYOUTS.items():
        try:
            found[name] = byte_diagram(layout, name)
        except UnsuitableLayoutError:
            continue  # only its table can show it
    return found


def _page(template: str, **more: Any) -> str:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=template.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = _cell
    clauses = all_clauses().values()
    families = [(name, list(found)) for name, found in groupby(clauses, key=family_of)]
    return environment.get_template(template).render(
        families=families,
        contents=[
            (area, title, [name for name, of in families if area_of(of[0]) == area])
            for area, title in AREAS.items()
        ],
        tests=clause_tests(ROOT),
        seen=evidence_line,
        releases=releases,
        layouts={name: rows(layout) for name, layout in LAYOUTS.items()},
        drawn={name: Markup(text) for name, text in _diagrams().items()},  # noqa: S704 - our own SVG
        **more,
    )


def _cell(text: object) -> str:
    """Return *text* with the escapes of a cell of a Markdown table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def releases(one: Clause) -> str:
    """Return the range of releases of *one*, in words."""
    return f"{one.since} to {one.until}" if one.until else f"since {one.since}"

"""
Pages of the specification: one for each area, its layouts first, then its clauses.

A layout and the clauses of its module have links to each other.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from construct import Struct
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import spec.layouts
from cli.options.suites.areas import AREAS, area_of, family_of
from cli.runs.suites.clause_tests import clause_tests
from cli.site.links import Repository, issue_url, source_url
from spec.clause import Clause
from spec.derive.drawing import byte_diagram
from spec.derive.table import rows
from spec.derive.walk import UnsuitableLayoutError
from spec.layouts import LAYOUTS
from spec.observed import evidence_of
from spec.registry import all_clauses, modules

ROOT = Path(__file__).parents[2]
TEMPLATES = Path(__file__).parents[1] / "templates" / "site"
_CELL_OF_ONE_WORD = re.compile(r"(?<=\| )[A-Z0-9]+(?:-[A-Z0-9]+)+(?= \|)")
"""Cell of a table that is an id or a date."""


@dataclass(frozen=True, slots=True)
class LayoutPage:
    """A layout with the clauses that its module declares."""

    name: str
    layout: Struct
    clauses: tuple[Clause, ...]

    @property
    def area(self) -> str:
        """Area of most of its clauses."""
        areas = Counter(area_of(one) for one in self.clauses)
        return areas.most_common(1)[0][0] if areas else "STORE"


def area_file(area: str) -> str:
    """Return the file name of an area's page."""
    return f"specification/{area.lower()}.md"


@cache
def layout_pages() -> tuple[LayoutPage, ...]:
    """Return every layout with the clauses declared beside it."""
    declared = {module.__name__: module for module in modules()}
    found = []
    for name, module in _modules_of_layouts().items():
        values = vars(declared[module]).values()
        clauses = tuple(one for one in values if isinstance(one, Clause))
        own = tuple(one for one in clauses if one in all_clauses().values())
        found.append(LayoutPage(name, LAYOUTS[name], own))
    return tuple(found)


def _modules_of_layouts() -> Mapping[str, str]:
    """Return the module that declares each layout, from the imports of the table."""
    path = spec.layouts.__file__
    assert path is not None
    sources: dict[int, str] = {}
    for node in ast.parse(Path(path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("spec."):
            names = (vars(spec.layouts)[one.asname or one.name] for one in node.names)
            sources |= {id(value): str(node.module) for value in names}
    return {name: sources[id(layout)] for name, layout in LAYOUTS.items()}


def diagrams() -> Iterator[tuple[str, str]]:
    """Yield name and SVG of each layout that can be drawn."""
    for name, layout in LAYOUTS.items():
        try:
            yield name, byte_diagram(layout, name)
        except UnsuitableLayoutError:
            continue  # only its table can show it


def area_pages(repository: Repository) -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each area's page."""
    drawn = {name for name, _ in diagrams()}
    template = environment().get_template("area.md.j2")
    for area, title in AREAS.items():
        clauses = [one for one in all_clauses().values() if area_of(one) == area]
        text = template.render(
            area=area,
            title=title,
            layouts=[one for one in layout_pages() if one.area == area],
            families=[(name, list(of)) for name, of in groupby(clauses, family_of)],
            count=len(clauses),
            tests=clause_tests(ROOT),
            layouts_of=layouts_of(),
            drawn=drawn,
            repository=repository,
        )
        yield area_file(area), text


def with_whole_words(text: str) -> str:
    """Return a page of ``docs`` whose cells of one id or date stay in one line.

    The id of a clause becomes a link to it.
    """
    return _CELL_OF_ONE_WORD.sub(_whole_word, text)


def _whole_word(found: re.Match[str]) -> str:
    word = found[0]
    if word in all_clauses():
        return f"[{word}]({area_file(area_of(all_clauses()[word]))}#{word}){{: .word }}"
    return f'<span class="word">{word}</span>'


@cache
def layouts_of() -> Mapping[str, list[LayoutPage]]:
    """Return the layouts that belong to each clause, by clause id."""
    found: dict[str, list[LayoutPage]] = {}
    for page in layout_pages():
        for one in page.clauses:
            found.setdefault(one.id, []).append(page)
    return found


def overview(area: str) -> dict[str, int]:
    """Return the number of clauses of an area by level."""
    levels = Counter(
        one.level.value for one in all_clauses().values() if area_of(one) == area
    )
    return dict(levels)


def environment() -> Environment:
    """Return the environment of the site's templates."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 # Markdown
    )
    made.filters["cell"] = cell
    made.globals |= {
        "rows": rows,
        "source_url": source_url,
        "issue_url": issue_url,
        "evidence_of": evidence_of,
    }
    return made


def cell(text: object) -> str:
    """Return *text* with the escapes of a cell of a Markdown table."""
    escaped = str(text).replace("|", "\\|").replace("<", "&lt;")
    return escaped.replace("\n", " ")

"""Pages from templates: a peer's output is text in them, never markup."""

from __future__ import annotations

import re

from jinja2 import Environment, PackageLoader, StrictUndefined

SYMBOLS = {
    "pass": "✓",
    "fail": "✗",
    "error": "!",
    "known": "k",
    "blocked": "b",
    "unsupported": "?",
    "not-applicable": "–",
    "": "",
}
"""Symbol of each outcome; the empty one means no result."""
SHORT_SIZE = 160
"""Characters of a value or reason in a summary."""

_HEX_ROWS = re.compile(
    r"^(?: {4,}[0-9a-f]{4,}  [0-9a-f ]+\|.*\|| {4}…     \d+ bytes| {10}[\^ ]+)\n",
    re.MULTILINE,
)
_BLANK_LINES = re.compile(r"\n{3,}")


def render_template(template: str, **values: object) -> str:
    """Return the page that *template* makes of *values*."""
    environment = Environment(
        loader=PackageLoader("conformance.harness.report.pages"),
        autoescape=template.endswith((".html", ".svg")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = markdown_cell
    environment.filters["short"] = short
    environment.filters["without_bytes"] = without_bytes
    return environment.get_template(template).render(**values)


def short(text: str) -> str:
    """Return *text* in one line of at most as many characters as a summary shows."""
    line = " ".join(text.split())
    return line if len(line) <= SHORT_SIZE else f"{line[:SHORT_SIZE]}..."


def without_bytes(text: str) -> str:
    """Return a failure's *text* without its rows of hex, which are in the page."""
    return _BLANK_LINES.sub("\n\n", _HEX_ROWS.sub("", text))


def markdown_cell(text: str) -> str:
    """Return *text* so that it stays within one cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")

"""The header tables as plain columns, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cli.pages.body_examples import body_sections
from cli.pages.header_pages import (
    FIELD_TITLES,
    REQUEST_TITLES,
    field_row,
    header_sentences,
    own_fields,
    request_row,
)
from conformance.harness.report.terminal.line_width import wrapped
from spec.wire.headers.header_history import CodeHistory, HeaderHistory, History

LABEL_WIDTH = max(map(len, REQUEST_TITLES)) + 2


def as_text(history: History) -> str:
    """Return the requests of *history*, their headers and bodies."""
    parts = [
        *map(_request, history.requests),
        *(_header(one, history) for one in history.headers.values()),
        *(f"{wrapped(title)}\n{text}" for title, text in _bodies(history)),
    ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _bodies(history: History) -> Iterator[tuple[str, str]]:
    for request in history.requests:
        for title, text in body_sections(request):
            yield f"{request.name} ({request.code}). {title}", _indented(text)


def _request(one: CodeHistory) -> str:
    code, name, *cells = request_row(one)
    lines = [f"{code} {_plain(name)}"]
    for title, cell in zip(REQUEST_TITLES[2:], cells, strict=True):
        if cell:
            line = f"  {title:<{LABEL_WIDTH}}{_plain(cell)}"
            lines.append(wrapped(line, LABEL_WIDTH))
    return "\n".join(lines)


def _header(header: HeaderHistory, history: History) -> str:
    lines = [header.name, *(f"  {one}" for one in header_sentences(header, history))]
    rows = [field_row(one, header) for one in own_fields(header)]
    return "\n".join([*map(wrapped, lines), *_columns(rows)])


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield *rows* in columns, without those that are empty."""
    table = [FIELD_TITLES, *([_plain(cell) for cell in row] for row in rows)]
    columns = [one for one in zip(*table, strict=True) if any(one[1:])]
    widths = [max(map(len, one)) for one in columns]
    for row in zip(*columns, strict=True):
        cells = (f"{cell:<{size}}" for cell, size in zip(row, widths, strict=True))
        yield wrapped(f"  {'  '.join(cells)}".rstrip(), widths[0] + 2)


def _plain(cell: str) -> str:
    """Return the cell of a Markdown table as plain text."""
    return cell.replace("<br>", ", ").replace("`", "")


def _indented(text: str) -> str:
    return "\n".join(wrapped(f"  {line}", 4) for line in text.rstrip().split("\n"))

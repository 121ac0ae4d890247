"""Read the prose of a file: docstrings, comments, names, Markdown, clause texts."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_CODE = re.compile(r"``.+?``|`[^`]*`", re.DOTALL)
_LITERAL = re.compile(r"^( *)(\S.*:):\n((?:[ \t]*\n|\1 +.*(?:\n|$))+)", re.MULTILINE)
"""Literal block of a docstring: the lines after ``::`` that are indented deeper."""
_DIRECTIVE = re.compile(r"#\s*(noqa|type:|pragma|fmt:|ruff|mypy|!|\[[A-Z])")
_FENCE = re.compile(r"^ *(```|~~~)")
_LIST_ITEM = re.compile(r"^\s*([-*]|\d+\.)\s+")


class Kind(Enum):
    """Kinds of prose, for rules that hold for some kinds only."""

    DOCSTRING = "docstring"
    COMMENT = "comment"
    NAME = "name"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CELL = "cell"
    CLAUSE = "clause"


@dataclass(frozen=True, slots=True)
class Text:
    """One piece of prose, its code spans replaced by ``CODE``."""

    kind: Kind
    line: int
    """Line of the file on which the text begins, from 1."""
    text: str


def texts(path: Path) -> Iterator[Text]:
    """Yield the prose of the Python or Markdown file at *path*."""
    content = path.read_text(encoding="utf-8")
    return _python(content) if path.suffix == ".py" else _markdown(content)


def _python(content: str) -> Iterator[Text]:
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Expr) and _string(node.value) is not None:
            docstring = _LITERAL.sub(_as_code, _string(node.value) or "")
            yield _text(Kind.DOCSTRING, node.lineno, docstring)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("test_"):
                yield Text(Kind.NAME, node.lineno, node.name)
            yield from (Text(Kind.NAME, a.lineno, a.arg) for a in _arguments(node.args))
        elif isinstance(node, ast.ClassDef):
            yield Text(Kind.NAME, node.lineno, node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Text(Kind.NAME, node.lineno, node.id)
        elif isinstance(node, ast.Call) and _callee(node) == "Clause":
            yield from _clause_text(node)
    yield from _comments(content)


def _as_code(literal: re.Match[str]) -> str:
    """Return *literal* as a code span with the same number of lines."""
    indent, lead, code = literal.groups()
    return f"{indent}{lead} ``CODE``." + "\n" * (1 + code.count("\n"))


def _clause_text(call: ast.Call) -> Iterator[Text]:
    for keyword in call.keywords:
        text = _string(keyword.value) if keyword.arg == "text" else None
        if text:
            yield _text(Kind.CLAUSE, keyword.value.lineno, text)


def _comments(content: str) -> Iterator[Text]:
    block: list[str] = []
    begin = last = 0
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type != tokenize.COMMENT or _DIRECTIVE.match(token.string):
            continue
        line = token.start[0]
        if block and (line != last + 1 or token.line.lstrip()[0] != "#"):
            yield _text(Kind.COMMENT, begin, "\n".join(block))
            block = []
        if not block:
            begin = line
        block.append(token.string.lstrip("# "))
        last = line
    if block:
        yield _text(Kind.COMMENT, begin, "\n".join(block))


def _markdown(content: str) -> Iterator[Text]:
    paragraph: list[str] = []
    begin = 0
    is_code = False
    for number, line in enumerate([*content.split("\n"), ""], 1):
        if _FENCE.match(line):
            is_code = not is_code
        ends = is_code or not line.strip() or line.startswith(("#", "|", "```", "<"))
        if paragraph and (ends or _LIST_ITEM.match(line)):
            yield _text(Kind.PARAGRAPH, begin, "\n".join(paragraph))
            paragraph = []
        if line.startswith("#") and not is_code:
            yield _text(Kind.HEADING, number, line.lstrip("# "))
        elif line.startswith("|") and not is_code:
            yield _text(Kind.CELL, number, line)
        elif not ends:
            begin = begin if paragraph else number
            paragraph.append(_LIST_ITEM.sub("", line))


def _text(kind: Kind, line: int, text: str) -> Text:
    return Text(kind, line, _CODE.sub("CODE", text).strip())


def _string(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _callee(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else ""


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]

"""
Golden texts of mutants' failures: one for each shape of failure.

A shape is the structure of the text: the kinds of expected values, hints, and whether
several clauses fail together. ``fixtures/failures/mutants`` has the text of one mutant
for each shape. Values that differ between runs are left out of it. It keeps the
clause's sentence, the names of compared values, expectations, hints and sources. Runs
on these mutants compare
the text. Runs on all mutants compare the ids of the failed clauses (kills.json).
``python -m conformance.mutants --write golden`` writes the texts anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.harness.pytest_plugin.verdicts.verdict import VALID_RESPONSE
from conformance.harness.targets.started.embedded import SOURCES
from conformance.mutants.matrix import Kill

FOLDER = SOURCES / "fixtures" / "failures" / "mutants"

_ROW = re.compile(r"  (got|expected|hint|learnt|issue) +(.*)")
_KEPT_WHOLE = ("hint", "learnt", "issue")
_OWN_NAME = re.compile(r"\b([A-Za-z]+(?:_[A-Za-z]+)*)_[0-9a-f]{8}_\d+\b")
_HEX = re.compile(r"\b(?:0x)?[0-9A-Fa-f]{8,}\b")
_TEXTS = re.compile(r"'[^']*'|\"[^\"]*\"|'[^']*(?=\.\.\. \(\d+ characters\))")
_FROM_BYTES_ON = re.compile(r"(?<!['\w])b['\"].*")
"""Printed bytes are of any width, so the place where they are cut varies too."""
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)*")
_ROWS_OF_NUMBERS = re.compile(r"'?#'?(?:, '?#'?)+")
_CUT_ROWS = re.compile(r"#, \.{3},? ?\.{3} (?=\(# characters\))")
_KINDS = {
    "[": "list",
    "(": "tuple",
    "{": "mapping",
    "<": "enum",
    "b'": "bytes",
    "'": "text",
    "#": "number",
    "True": "bool",
    "False": "bool",
    "None": "none",
}
TEXT_WIDTH = 300


def golden_of(kill: Kill) -> str | None:
    """Return the golden text of a mutant's failures; None for most mutants."""
    file = FOLDER / f"{kill.mutant.id}.txt"
    return file.read_text(encoding="utf-8") if file.exists() else None


def golden_names() -> list[str]:
    """Return the ids of the mutants with a golden text."""
    return sorted(file.stem for file in FOLDER.glob("*.txt"))


def keep_golden(kill: Kill) -> None:
    """Write the text of a killed mutant if it has a golden text or a new shape."""
    text = stable_text(kill)
    if golden_of(kill) is None and shape(text) in set(golden_shapes().values()):
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{kill.mutant.id}.txt").write_text(text, encoding="utf-8")


def golden_shapes() -> dict[str, tuple[str, ...]]:
    """Return the shape of each golden text, by mutant."""
    files = sorted(FOLDER.glob("*.txt"))
    return {file.stem: shape(file.read_text(encoding="utf-8")) for file in files}


def is_as_golden(kill: Kill) -> bool:
    """Return whether the failures match the mutant's golden text, if it has one."""
    return golden_of(kill) in (None, stable_text(kill))


def shape(text: str) -> tuple[str, ...]:
    """Return the sorted parts of a stable text's structure."""
    parts: set[str] = set()
    for block in text.split("\n# ")[1:]:
        rows = [
            found.groups() for found in map(_ROW.match, block.splitlines()) if found
        ]
        expected = [content for name, content in rows if name == "expected"]
        parts |= {_kind(content) for content in expected}
        parts |= {"hint" for name, _ in rows if name == "hint"}
        parts |= {"several values"} if len(expected) > 1 else set()
        parts |= {"several clauses"} if block.count(" is not met.\n") > 1 else set()
        parts |= set() if rows else {"varies"}
    return tuple(sorted(parts))


def _kind(expected: str) -> str:
    """Return the kind of an expected value, with or without a name before it."""
    if expected.startswith(VALID_RESPONSE):
        return "no response"
    kind = _kind_of_value(expected)
    if kind or ": " not in expected:
        return kind or "words"
    kind = _kind_of_value(expected.partition(": ")[2])
    return f"{kind or 'words'} of a name"


def _kind_of_value(text: str) -> str:
    return next((kind for start, kind in _KINDS.items() if text.startswith(start)), "")


def stable_text(kill: Kill) -> str:
    """Return the part of a mutant's failure texts that is the same in every run."""
    parts = [f"{kill.mutant.id}: {kill.mutant.description}"]
    for name in sorted(kill.mutant.caught_by):
        text = kill.texts.get(name, "")
        if kill.mutant.varies:
            text = text.partition("\n\n")[0]
        parts.append("\n".join([f"# {name}", *_stable_lines(text)]))
    return "\n\n".join(parts) + "\n"


def _stable_lines(text: str) -> Iterator[str]:
    sentence, _, rest = text.partition("\n\n")
    yield from sentence.splitlines()
    yield ""
    rows = dict.fromkeys(filter(None, map(_stable_row, rest.splitlines())))
    # Whether the peer closes or stays silent differs between runs.
    if any(row.endswith(VALID_RESPONSE) for row in rows):
        rows = {row: None for row in rows if not row.startswith("  got ")}
    yield from rows or ["  (nothing more that is the same in every run)"]


def _stable_row(line: str) -> str | None:
    found = _ROW.match(line)
    if found is None:
        return None
    name, content = found.groups()
    if name not in _KEPT_WHOLE:
        content = masked(content)[:TEXT_WIDTH]
    if name == "got":
        content = (
            content.partition(": ")[0] if ": " in content else "(another in every run)"
        )
    return f"  {name:<9} {content}"


def masked(text: str) -> str:
    """Return *text* with ``#`` for each name and number that differs between runs."""
    text = _FROM_BYTES_ON.sub("b'#'", text)
    text = _TEXTS.sub("'#'", _OWN_NAME.sub(r"\1_#", text))
    text = _NUMBERS.sub("#", _HEX.sub("#", text))
    return _CUT_ROWS.sub("#, ... ", _ROWS_OF_NUMBERS.sub("#, ...", text))

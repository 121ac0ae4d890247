"""
What a mutant's failures say, without what is another in every run: golden texts.

``fixtures/failures/mutants`` has a file a mutant: of each clause that must notice it
the sentence, the names of what was looked at, what was expected without its numbers and
names, hints, sources. The runs that show that a mutant is caught compare them, and
``python -m conformance.mutants --write ID...`` writes them anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.harness.embedded import SOURCES
from conformance.harness.judging import UNJUDGED
from conformance.mutants.matrix import Kill

FOLDER = SOURCES / "fixtures" / "failures" / "mutants"

_ROW = re.compile(r"  (got|expected|hint|learnt|issue) +(.*)")
_KEPT_WHOLE = ("hint", "learnt", "issue")
_OWN_NAME = re.compile(r"\b([A-Za-z]+(?:_[A-Za-z]+)*)_[0-9a-f]{8}_\d+\b")
_HEX = re.compile(r"\b(?:0x)?[0-9A-Fa-f]{8,}\b")
_TEXTS = re.compile(r"'[^']*'|\"[^\"]*\"|'[^']*(?=\.\.\. \(\d+ characters\))")
_FROM_BYTES_ON = re.compile(r"(?<!['\w])b['\"].*")
"""How long bytes are, written out, depends on what they are: so does what is cut."""
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)*")
_ROWS_OF_NUMBERS = re.compile(r"'?#'?(?:, '?#'?)+")
_CUT_ROWS = re.compile(r"#, \.{3},? ?\.{3} (?=\(# characters\))")
TEXT_WIDTH = 300


def golden_of(kill: Kill) -> str | None:
    """Return the golden text of a mutant's failures; None while there is none."""
    file = FOLDER / f"{kill.mutant.id}.txt"
    return file.read_text(encoding="utf-8") if file.exists() else None


def write_golden(kill: Kill) -> None:
    """Keep the text of a mutant's failures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"{kill.mutant.id}.txt"
    file.write_text(stable_text(kill), encoding="utf-8")


def says_the_same(kill: Kill) -> bool:
    """Return whether a mutant's failures say what its golden text has."""
    return golden_of(kill) == stable_text(kill)


def keep_missing(kill: Kill) -> None:
    """Keep the text of a mutant that was killed, unless there is one."""
    if kill.caught and golden_of(kill) is None:
        write_golden(kill)


def stable_text(kill: Kill) -> str:
    """Return what is the same in every run of what the failures of a mutant say."""
    parts = [f"{kill.mutant.id}: {kill.mutant.says}"]
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
    if any(row.endswith(UNJUDGED) for row in rows):  # closed, silent: that may vary
        rows = {row: None for row in rows if not row.startswith("  got ")}
    yield from rows or ["  (nothing more that is the same in every run)"]


def _stable_row(line: str) -> str | None:
    found = _ROW.match(line)
    if found is None:
        return None
    name, said = found.groups()
    if name not in _KEPT_WHOLE:
        said = masked(said)[:TEXT_WIDTH]
    if name == "got":
        said = said.partition(": ")[0] if ": " in said else "(another in every run)"
    return f"  {name:<9} {said}"


def masked(text: str) -> str:
    """Return *text* with a mark for each name and number that is a run's own."""
    text = _FROM_BYTES_ON.sub("b'#'", text)
    text = _TEXTS.sub("'#'", _OWN_NAME.sub(r"\1_#", text))
    text = _NUMBERS.sub("#", _HEX.sub("#", text))
    return _CUT_ROWS.sub("#, ... ", _ROWS_OF_NUMBERS.sub("#, ...", text))

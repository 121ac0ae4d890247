"""Prose and names obey the mechanical rules; the allow-list may only shrink."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.meta.language.check import Counts, allowed, counts, project_files
from conformance.meta.language.prose import Kind, Text, texts
from conformance.meta.language.rules import violations

LITERAL = '''"""
The calls of a store::

    start() told
    stop()

A sentence told here.
"""
'''


@pytest.fixture(scope="module")
def found() -> Counts:
    return counts(project_files())


def test_no_file_breaks_a_rule_more_often_than_allowed(found: Counts) -> None:
    limits, _reasons = allowed()
    grown = [
        f"{name}: {rule} {count}, allowed {limits.get(rule, {}).get(name, 0)}"
        for rule, files in found.items()
        for name, count in files.items()
        if count > limits.get(rule, {}).get(name, 0)
    ]
    assert not grown, "see python -m conformance.meta.language FILE\n" + "\n".join(
        grown
    )


def test_the_allow_list_has_no_entry_that_is_too_high(found: Counts) -> None:
    limits, _reasons = allowed()
    shrunk = [
        f"{name}: {rule} {found.get(rule, {}).get(name, 0)}, allowed {count}"
        for rule, files in limits.items()
        for name, count in files.items()
        if count > found.get(rule, {}).get(name, 0)
    ]
    assert not shrunk, "run python -m conformance.meta.language --write\n" + "\n".join(
        shrunk
    )


def test_a_rule_with_allowed_violations_has_a_reason() -> None:
    limits, reasons = allowed()
    assert set(limits) <= set(reasons)


@pytest.mark.parametrize(
    ("kind", "text", "rule"),
    [
        (Kind.DOCSTRING, "What was appended.", "opening"),
        (Kind.DOCSTRING, "How far the log goes.", "opening"),
        (Kind.DOCSTRING, "Return where the log ends.", "opening"),
        (Kind.COMMENT, "the broker says no", "word"),
        (Kind.NAME, "told_by", "name"),
        (Kind.NAME, "NameAsker", "name"),
        (Kind.CLAUSE, "Such a file is deleted.", "leaning"),
        (Kind.CLAUSE, "So does it with topics.json.", "leaning"),
        (Kind.PARAGRAPH, "word " * 26, "long"),
    ],
)
def test_a_violation_is_found(kind: Kind, text: str, rule: str) -> None:
    assert rule in {one.rule for one in violations(Text(kind, 1, text))}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.DOCSTRING, "Return whether the log has an end."),
        (Kind.PARAGRAPH, "Look up the key, such as a tag. " * 9),
        (Kind.NAME, "task_askew"),
        (Kind.CLAUSE, "A code, such as 17, is kept."),
    ],
)
def test_good_prose_has_no_violation(kind: Kind, text: str) -> None:
    assert not list(violations(Text(kind, 1, text)))


def test_a_literal_block_is_code_and_keeps_its_lines(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(LITERAL, encoding="utf-8")
    found = [one for text in texts(module) for one in violations(text)]
    assert [(one.line, one.found) for one in found] == [(6, "told")]

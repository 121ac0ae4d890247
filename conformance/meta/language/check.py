"""
Check prose and names against the mechanical rules of the project's language.

``python -m conformance.meta.language PATH …`` prints the violations of files and
folders; without a path, of the whole project. ``--write`` updates the allow-list,
which `test_language` compares with the tree. ``--rule NAME`` selects one rule.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import click

from conformance.harness.targets.started.embedded import SOURCES
from conformance.meta.language.prose import texts
from conformance.meta.language.rules import Violation, violations

ALLOWED = SOURCES / "conformance" / "meta" / "language" / "allowed.toml"
_FOLDERS = (
    "bench",
    "changelog.d",
    "cli",
    "columns",
    "conformance",
    "docs",
    "fixtures",
    "java_runtime",
    "packaging",
    "reference",
    "spark_checks",
    "spec",
)
_RULES_THEMSELVES = SOURCES / "conformance" / "meta" / "language" / "rules.py"

Counts: TypeAlias = dict[str, dict[str, int]]
"""Number of violations by rule, then by path below the project's root."""


def project_files() -> Iterator[Path]:
    """Yield the Python and Markdown files to check."""
    yield from sorted(SOURCES.glob("*.md"))
    for folder in _FOLDERS:
        yield from files_below(SOURCES / folder)


def files_below(path: Path) -> Iterator[Path]:
    """Yield *path* if it is a file, else the Python and Markdown files below it."""
    found = [path] if path.is_file() else sorted(path.rglob("*"))
    for file in found:
        if file.suffix in {".py", ".md"} and file != _RULES_THEMSELVES:
            yield file


def file_violations(file: Path) -> Iterator[Violation]:
    """Yield the violations in one file."""
    for text in texts(file):
        yield from violations(text)


def counts(files: Iterable[Path]) -> Counts:
    """Return the number of violations by rule and file."""
    found: Counts = {}
    for file in files:
        name = file.relative_to(SOURCES).as_posix()
        for rule, count in Counter(v.rule for v in file_violations(file)).items():
            found.setdefault(rule, {})[name] = count
    return found


def allowed() -> tuple[Counts, Mapping[str, str]]:
    """Return the allowed counts, and the reasons for them by rule."""
    content = tomllib.loads(ALLOWED.read_text(encoding="utf-8"))
    reasons = content.pop("reasons", {})
    return content, reasons


def write_allowed(found: Counts, reasons: Mapping[str, str]) -> None:
    """Replace the allow-list by *found*."""
    lines = [
        "# Written by: python -m conformance.meta.language --write",
        "[reasons]",
    ]
    lines += [f'{rule} = "{reason}"' for rule, reason in sorted(reasons.items())]
    for rule, files in sorted(found.items()):
        lines += ["", f"[{rule}]"]
        lines += [f'"{name}" = {count}' for name, count in sorted(files.items())]
    ALLOWED.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Run the command; it ends with 1 if it finds a violation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--rule", help="opening, word, name, leaning or long")
    parser.add_argument("--write", action="store_true", help="update the allow-list")
    options = parser.parse_args()
    if options.write:
        write_allowed(counts(project_files()), allowed()[1])
        return
    chosen = [file for path in options.paths for file in files_below(path.resolve())]
    total: Counter[str] = Counter()
    for file in chosen if options.paths else project_files():
        for found in sorted(file_violations(file)):
            if options.rule in {None, found.rule}:
                total[found.rule] += 1
                place = f"{file.relative_to(SOURCES)}:{found.line}"
                problem = f"{found.rule}: {found.found} -> {found.remedy}"
                click.echo(f"{place}: {problem}")
    click.echo(dict(total) or "no violations")
    sys.exit(1 if total else 0)

"""
The verdict of a run in a few words, and its colour: what a badge shows.

A run in which nothing failed is green only if something passed.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.harness.report.report_json import Report

GREEN, RED, YELLOW, GREY = "#1a7f37", "#cf222e", "#9a6700", "#57606a"
LETTER_WIDTH = 6.6
"""Approximate width of 11 px Verdana, in pixels."""
MARGIN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Summary of a run."""

    subject: str
    """Name of the target."""
    words: str
    colour: str

    @property
    def widths(self) -> tuple[int, int]:
        """Pixels of the two halves of a badge."""
        left, right = (
            round(len(text) * LETTER_WIDTH) + MARGIN
            for text in (self.subject, self.words)
        )
        return left, right


def verdict_of(report: Report) -> Verdict:
    """Return the verdict of the run that *report* is about."""
    totals, release = report.totals, report.target.release
    failed, passed, known = (totals.get(name, 0) for name in ("fail", "pass", "known"))
    decided = failed + passed + known
    words, colour = f"{passed} of {decided} clauses", GREEN
    if failed:
        colour = RED
    elif not passed or totals.get("error"):
        words, colour = "no verdict" if not passed else words, GREY
    elif known:
        colour = YELLOW
    if report.interrupted:
        words, colour = f"{words}, interrupted", RED if failed else GREY
    return Verdict(subject=f"RocketMQ {release}".strip(), words=words, colour=colour)

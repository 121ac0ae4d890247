"""
First file of known failures, written from a run: each failure, to be explained.

The owner of a new peer starts with it and writes a reason into each entry. The run then
stays green until another clause fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from conformance.harness.report.causes import without_varying
from conformance.harness.report.known_failures import ANY, Known
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import BASELINE, STALE, ClauseResult
from conformance.harness.targets.target import CLIENT

MOST_SHOWN = 60
"""Characters of a value that a reason shows."""

HEADER = """\
# Known failures of {target}, release {release}.
# Written by `{command} --write-known`: give each entry a reason of your own and,
# where there is one, the link of its issue. `{command} --known THIS` then fails only
# for others, and for entries whose clause passes, which are to be removed. An entry is
# for every target, unless it has a pattern such as target = "{pattern}:*".
"""


def known_text(
    results: Iterable[ClauseResult],
    known: Iterable[Known],
    description: Mapping[str, str],
) -> str:
    """Return the text of a file that lists what failed, with the reasons known so far.

    An entry that has become stale is left out.
    """
    target, release = description.get("text", ""), description.get("release", "")
    so_far = {
        one.clause: one for one in known if one.matches(target=target, release=release)
    }
    is_client = target.startswith(CLIENT)
    parts = [
        HEADER.format(
            target=target,
            release=release,
            command="rmqc test-client" if is_client else "rmqc test",
            pattern="client" if is_client else "cmd",
        )
    ]
    for result in results:
        if result.outcome is Outcome.KNOWN:
            parts.append(_entry(so_far[result.id]))
        elif result.outcome is Outcome.FAIL and result.reason != STALE:
            parts.append(_entry(_found(result, release)))
    return "\n".join(parts)


def write_known(path: Path, text: str) -> None:
    """Write a file of known failures, which must not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def _found(result: ClauseResult, release: str) -> Known:
    found = result.failure
    reason, step = "not explained yet", ""
    if found is not None and (found.found or found.expected):
        reason += f": expected {_short(found.expected)}, found {_short(found.found)}"
    if found is not None and found.test.startswith(BASELINE):
        step = found.test.removeprefix(BASELINE)
    return Known(clause=result.id, reason=reason, step=step, release=release)


def _entry(known: Known) -> str:
    values = {
        "clause": known.clause,
        "reason": known.reason,
        "link": known.link,
        "step": known.step,
        "target": known.target if known.target != ANY else "",
        "release": known.release,
    }
    table = "flaky" if known.flaky else "known"
    lines = [f"{key} = {_quoted(value)}" for key, value in values.items() if value]
    return "\n".join([f"[[{table}]]", *lines, ""])


def _quoted(text: str) -> str:
    """Return *text* as TOML quotes it, which is JSON's way but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _short(text: str) -> str:
    line = without_varying(text)
    return line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]}..."

"""
The page docs/admin.md: mqadmin's commands, and the requests of administrators.

The first table comes from the last recorded run. The second comes from
``spec/wire/admin/admin_processor.py`` and the reference's processor table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.interop.mqadmin.compare import Taken
from conformance.interop.mqadmin.record import Run
from conformance.interop.mqadmin.steps import FOREVER, QUERY, SUB_COMMANDS
from conformance.interop.mqadmin.undetermined import ABSENT
from reference.core.broker.processor_table import PROCESSORS
from spec.wire.admin.admin_processor import ADMINISTRATION, NOT_DONE

SAME = "same"

BOUNDED = "does not end: run apart until its first round is over"
PARTLY = (
    "access control is off, as by default; the reference has none, so its commands are"
    " compared in how they are refused"
)
REMARKS = {
    **dict.fromkeys(FOREVER, BOUNDED),
    **dict.fromkeys(
        (
            *("updateAclConfig", "deleteAccessConfig", "clusterAclConfigVersion"),
            *("updateGlobalWhiteAddr", "getAccessConfigSubCommand"),
        ),
        PARTLY,
    ),
    "queryCq": "shows every queue as empty: 4.6.0 answers before it has looked"
    " (QUERY-QUEUE-001)",
    "cleanUnusedTopic": "with `-c` it takes a cluster's name for an address, and fails",
    "statsAll": "without `-a`, which prints a topic or not by when it was last counted",
    "getBrokerConfig": "settings that change nothing in the reference are not listed by"
    " it: see below",
}
"""Remarks on a command, other than its undetermined cells."""

_HEAD = """\
# Administration

This page is written by

    rmqc report admin -o docs/admin.md

from what `conformance/interop/mqadmin/admin_steps.json` records; with `--again` all
commands
are run anew, which takes a minute or two. `tox -e admin` runs them, too, and fails
where anything differs.

## mqadmin 4.6.0: every sub-command

The tool itself, unmodified, is pointed at a real 4.6.0 and at the reference, in the
same scene: messages with keys and tags, a real Java consumer, a member that only
speaks, producers, offsets that lie behind. Commands that change something nobody prints
are followed by a look at the broker's tables (`QUERY`). What is printed is cut into
cells, and every cell must be equal; of those that are not determined the form is
compared, and the reason is below the table.
"""


def page(run: Run) -> str:
    """Return the page of a *run*."""
    blocks = [_HEAD, _summary(run), "\n".join(_commands(run.steps)) + "\n"]
    blocks += ["### Not determined\n", "\n".join(_reasons(run.steps)) + "\n"]
    blocks += ["### Not compared\n", "\n".join(_absent()) + "\n"]
    blocks += ["## Requests of administrators\n", _REQUESTS]
    blocks += ["\n".join(_requests()) + "\n"]
    return "\n".join(blocks)


_REQUESTS = """\
Every case of `AdminBrokerProcessor#processRequest` in 4.6.0, in its order: what the
reference does about it, the clauses that say what is right (`rmqc spec show ID`), and
the function of `reference/core` that does it.
"""


def _summary(run: Run) -> str:
    compared = sum(one.cell_count for one in run.steps)
    differ = sum(len(one.differences) for one in run.steps)
    return (
        f"{len(SUB_COMMANDS)} commands in {len(run.steps)} steps, {compared:,} cells"
        f" compared, {differ} of them other; {run.duration_s} s.\n"
    )


def _commands(taken: Sequence[Taken]) -> Iterator[str]:
    yield "| command | steps | cells | outcome | not determined | remark |"
    yield "|---|---|---|---|---|---|"
    for name in (*SUB_COMMANDS, QUERY):
        steps = [one for one in taken if one.command == name]
        cells = sum(one.cell_count for one in steps)
        unknown = sorted({what for one in steps for what in one.unknown})
        listed = ", ".join(what for what in unknown if what not in ABSENT.get(name, {}))
        yield (
            f"| `{name}` | {len(steps)} | {cells} | {outcome(steps)} | {listed}"
            f" | {REMARKS.get(name, '')} |"
        )


def outcome(steps: Sequence[Taken]) -> str:
    """Return the outcome of one command's steps, in a word or two."""
    if not steps:
        return "not run"
    differ = sum(len(one.differences) for one in steps)
    return f"**{differ} cells differ**" if differ else SAME


def _reasons(taken: Sequence[Taken]) -> Iterator[str]:
    reasons: dict[str, set[str]] = {}
    for one in taken:
        for what, reason in one.unknown.items():
            if what not in ABSENT.get(one.command, {}):
                reasons.setdefault(reason, set()).add(what)
    for reason in sorted(reasons):
        yield f"- {', '.join(sorted(reasons[reason]))}: {reason}."


def _absent() -> Iterator[str]:
    for command, lines in ABSENT.items():
        reasons: dict[str, list[str]] = {}
        for name, reason in lines.items():
            reasons.setdefault(reason, []).append(name)
        for reason, names in reasons.items():
            listed = ", ".join(f"`{name}`" for name in sorted(names))
            yield f"- `{command}`: {reason}: {listed}."


def _requests() -> Iterator[str]:
    yield "| code | request | done | clauses | place |"
    yield "|---|---|---|---|---|"
    for code, clauses in ADMINISTRATION.items():
        handler = PROCESSORS[code]
        place = handler.__module__.removeprefix("reference.core.").replace(".", "/")
        done = f"in part: {NOT_DONE[code]}" if code in NOT_DONE else "yes"
        yield (
            f"| {int(code)} | {code.name} | {done} | {', '.join(clauses)}"
            f" | `{place}.py` `{handler.__name__}` |"
        )

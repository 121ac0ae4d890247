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
from spec.wire.admin.admin_processor import ADMINISTRATION

SAME = "same"

BOUNDED = "does not end: stopped after its first round"
PARTLY = (
    "access control is off by default, and missing in the reference: only the error"
    " responses are compared"
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
    "queryCq": "shows every queue as empty: 4.6.0 responds before its read"
    " (QUERY-QUEUE-001)",
    "cleanUnusedTopic": "with `-c` it uses the cluster's name as an address, and fails",
    "statsAll": "without `-a`, whose topics depend on the time of the last count",
    "getBrokerConfig": "the reference lists only settings with an effect: see below",
}
"""Remarks on a command, other than its undetermined cells."""

_HEAD = """\
# Administration

This page is written by

    rmqc report admin -o docs/admin.md

from the record in `conformance/interop/mqadmin/admin_steps.json`. `--again` runs all
commands again, which takes a minute or two. `tox -e admin` also runs them, and fails on
a difference.

## mqadmin 4.6.0: every sub-command

The unmodified tool runs against a real 4.6.0 and against the reference, with the same
data: messages with keys and tags, a real Java consumer, a member without pull requests,
producers, offsets with a lag. A query of the broker's tables (`QUERY`) follows commands
without output. The output is split into cells, and every cell must be equal. For
undetermined cells only the form is compared, and the reason is below the table.
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
Every case of `AdminBrokerProcessor#processRequest` in 4.6.0, in its order, with the
support of the reference, the clauses (`rmqc spec show ID`), and the function of
`reference/core`.
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
    yield "| code | request | clauses | place |"
    yield "|---|---|---|---|"
    for code, clauses in ADMINISTRATION.items():
        handler = PROCESSORS[code]
        place = handler.__module__.removeprefix("reference.core.").replace(".", "/")
        yield (
            f"| {int(code)} | {code.name} | {', '.join(clauses)}"
            f" | `{place}.py` `{handler.__name__}` |"
        )

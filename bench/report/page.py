"""
The page on performance, made from what was measured and kept.

Each measurement's report is a JSON file in one folder, with its picture beside it. The
page shows all of them. A new measurement thus changes only its part of the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import UNSET

from bench.report.chart import picture
from bench.report.result import (
    Limit,
    Machine,
    Ratio,
    Report,
    Row,
    decode_report,
    encode_report,
)

HEAD = """\
# Performance

The reference is written for readers, and must be fast enough for daily use as a broker
in tests. This page compares it with a real Apache RocketMQ. Both run on the same
machine at the same time, and get the same load in turns from the same real Java client.
The result is the ratio of the two turns of a round. A ratio above 1 means that the
reference is better, also for times and sizes. The median is followed by the lowest and
the highest round. [bench](../bench/README.md) describes each measurement. This page is
written by

    rmqc bench all

which takes a quarter of an hour on an idle machine. With `--long` it takes an hour, and
its stores have gigabytes. `rmqc bench all --only send,start` repeats some measurements,
and keeps the other records in `docs/performance/`. `rmqc report pages` draws each
record as a chart, `docs/performance/NAME.svg`.

Each figure belongs to the named machine and date. The load is the number of other
programs that were ready to run at the start of the measurement. If it exceeds the
number of processors, times and rates are unreliable. Ratios are more reliable, and
processor time per message is the most reliable figure.
"""
FIGURES = (
    ("p50_ms", "p50 ms"),
    ("p99_ms", "p99 ms"),
    ("max_ms", "max ms"),
    ("cpu_us", "CPU us/message"),
    ("cpu_s", "CPU s"),
    ("audit_s", "s to audit"),
    ("start_s", "s to start"),
    ("own_mb", "own MB"),
    ("mapped_mb", "mapped MB"),
)


def keep(name: str, report: Report, folder: Path) -> None:
    """Write *report*, and a picture if it has rows, into *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    text = encode_report(report) + "\n"
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    if report.rows:
        (folder / f"{name}.svg").write_text(picture(report), encoding="utf-8")


def kept(folder: Path, names: Mapping[str, str]) -> dict[str, Report]:
    """Return the reports of *names* that are in *folder*, in the order of *names*."""
    files = {name: folder / f"{name}.json" for name in names}
    return {
        name: decode_report(file.read_text(encoding="utf-8"))
        for name, file in files.items()
        if file.exists()
    }


def page(reports: Mapping[str, Report], titles: Mapping[str, str]) -> str:
    """Return the page of *reports*, under these *titles*."""
    parts = [HEAD, "\n".join(_goals(reports, titles))]
    parts += ["\n".join(_part(titles[name], reports[name])) for name in reports]
    missing = [title for name, title in titles.items() if name not in reports]
    if missing:
        parts.append(f"Not measured yet: {', '.join(missing)}.")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _goals(reports: Mapping[str, Report], titles: Mapping[str, str]) -> Iterator[str]:
    yield "| measured | figure | target | |"
    yield "|---|---|---|---|"
    for name, report in reports.items():
        link = f"[{titles[name]}](#{_anchor(titles[name])})"
        for goal in report.goals:
            if goal.met is not None:
                verdict = "met" if goal.met else "**missed**"
                yield f"| {link}: {goal.way} | {_figure(goal)} | {verdict} |"


def _figure(goal: Ratio | Limit) -> str:
    """Return the two cells with the figure and its target."""
    if isinstance(goal, Limit):
        return f"{goal.value:g} {goal.unit} | at most {goal.at_most:g} {goal.unit}"
    spread = ""
    if goal.spread:
        spread = f" ({goal.spread[0]:g} to {goal.spread[1]:g})"
    target = f"{goal.at_least or 0:g} x {goal.other}"
    return f"{goal.ratio:g} x{spread} | {target}"


def _part(title: str, report: Report) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield _machine(report.machine, report.rounds)
    if report.rows:
        yield ""
        yield from _rows(report.rows)
    untargeted = [
        goal for goal in report.goals if isinstance(goal, Ratio) and goal.met is None
    ]
    if untargeted:
        yield ""
        yield from ("For information (no target):", "")
        for goal in untargeted:
            yield f"- {goal.way}: {goal.ratio:g} x {goal.other}"


def _machine(machine: Machine, rounds: int) -> str:
    words = [f"RocketMQ {machine.rocketmq}"]
    if machine.processor:
        words.append(f"{machine.processors} x {machine.processor}")
    else:
        words.append(f"{machine.processors} processors")
    if machine.memory_gib is not UNSET:
        words.append(f"{machine.memory_gib} GiB")
    words.append(f"Python {machine.python}")
    if machine.load is not UNSET:
        words.append(f"load {machine.load:g}")
    words.append("one run" if rounds == 1 else f"median of {rounds} rounds")
    return ", ".join(words) + "."


def _rows(rows: Sequence[Row]) -> Iterator[str]:
    figures = [
        (key, head)
        for key, head in FIGURES
        if any(
            key in side.medians and key != row.of
            for row in rows
            for side in row.sides.values()
        )
    ]
    heads = "".join(f" {head} |" for _, head in figures)
    yield f"| measured | who | figure |{heads}"
    yield "|---|---|---|" + "---|" * len(figures)
    for row in rows:
        for who, side in row.sides.items():
            found = side.medians
            cells = "".join(
                f" {found[key]:g} |" if key in found else " |" for key, _ in figures
            )
            value = f"{row.drawn(who):,g} {row.unit}"
            yield f"| {row.id} | {who} | {value} |{cells}"


def _anchor(title: str) -> str:
    kept_marks = (mark for mark in title.lower() if mark.isalnum() or mark in " -_")
    return "".join(kept_marks).replace(" ", "-")

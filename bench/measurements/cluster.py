"""
Speed of a full audit on a Spark cluster, beside the same audit on this machine.

In each round a standalone cluster of workers with one processor each makes the audit,
and then a local session with two. The start of Spark and of its Python workers belongs
to the time, because an operator waits for it. Two workers are compared with the two
local processors. Clusters of other sizes give the curve.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.measurements.audit import AuditBenchError, Run, audit_once, generated
from bench.processes.audit_child import STARTED
from bench.processes.standalone_cluster import standalone_cluster
from bench.report.result import Ratio, Report, machine_facts, ratio_result, row

CLUSTER, LOCAL = "cluster", "local"
PROCESSORS = 2
"""Processors of the local session."""
AT_LEAST = 0.9
Turns = dict[str, list[dict[str, float]]]


def measure(
    points: Mapping[int, Sequence[int]],
    run: Run,
    *,
    name: str = "cluster",
    progress: Callable[[str], None],
) -> Report:
    """Measure stores of each size in bytes on clusters of its numbers of workers."""
    machine = machine_facts(run.release)
    rows, goals = [], []
    for size, workers in points.items():
        with generated(size, run, progress) as store:
            for count in workers:
                turns = _turns(store, count, run, progress)
                way = f"audit of {size / 1e9:.2g} GB, {_workers(count)}"
                rows.append(row(way, turns, unit="s", of="whole_s"))
                has_target = count == PROCESSORS and not run.is_uniform
                goals += _goals(way, turns, has_target=has_target)
    return Report(
        bench=name,
        rounds=run.rounds,
        machine=machine,
        rows=rows,
        goals=goals,
    )


def _goals(name: str, turns: Turns, *, has_target: bool) -> list[Ratio]:
    """Return the ratios with the start and without it; two workers have a target."""
    found = []
    for figure, way in (("audit_s", name), ("whole_s", f"{name}, with its start")):
        at_least = AT_LEAST if has_target else None
        found.append(ratio_result(way, _ratios(turns, figure), LOCAL, at_least))
    return found


def _ratios(turns: Turns, figure: str) -> list[float]:
    pairs = zip(turns[LOCAL], turns[CLUSTER], strict=True)
    return [local[figure] / cluster[figure] for local, cluster in pairs]


def _turns(
    store: Path, workers: int, run: Run, progress: Callable[[str], None]
) -> Turns:
    """Return the audits of *store* by a cluster of *workers* and here, in turns."""
    turns: Turns = {CLUSTER: [], LOCAL: []}
    with tempfile.TemporaryDirectory(prefix="rmqc-bench-") as name:
        python = Path(sys.executable)
        home = {"HOME": str(Path.home())}
        with standalone_cluster(Path(name), python, home, workers=workers) as cluster:
            masters = {CLUSTER: cluster.url, LOCAL: f"local[{PROCESSORS}]"}
            for number in range(run.rounds + 1):  # the first compiles and fills caches
                for who, master in masters.items():
                    progress(f"{who}, {_workers(workers)}, round {number}")
                    found = _figures(store, master, run)
                    if number:
                        turns[who].append(found)
    return turns


def _figures(store: Path, master: str, run: Run) -> dict[str, float]:
    """Return the seconds of one audit of *store* on *master*."""
    found = audit_once(store, replace(run, master=master), STARTED)
    if found.tasks.get("without"):
        raise AuditBenchError(f"workers of {master} have no kernels")
    audit_s, start_s = found.seconds, found.start_s
    return {
        "whole_s": audit_s + start_s,
        "audit_s": audit_s,
        "start_s": start_s,
    }


def _workers(count: int) -> str:
    return f"{count} worker{'' if count == 1 else 's'}"

"""
All measurements of brokers, by name, with the sizes that the page has.

A measurement that the machine has no time for can be left out: what was recorded of it
before stays on the page. Counts and sizes follow from an amount: short, standard, long.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from bench.measurements import (
    growth,
    idle,
    namesrv,
    pull,
    recovery,
    send,
    start,
    suite,
)
from bench.measurements.send import BATCH, ONEWAY, Shape
from bench.report.result import Report

Progress = Callable[[str], None]
TITLES = {
    "send": "Sending, one by one",
    "send-sync-flush": "Sending with SYNC_FLUSH",
    "send-batch": "Sending batches",
    "send-oneway": "Sending oneway",
    "pull": "Push consumption of stored messages",
    "idle": "A thousand consumers that wait",
    "growth": "Growth",
    "start": "Start",
    "recovery": "Start after a kill",
    "namesrv": "Routes",
    "codec": "Decoding a log",
    "audit": "Auditing a store",
    "cluster": "Auditing on a cluster",
    "cluster-curve": "Auditing uniform stores of 1 to 16 GB, by 1 to 4 workers",
    "suite": "The suite itself",
}
"""Names of measurements, and what the page calls them."""


class Amount(Enum):
    """Extent of all measurements."""

    SHORT = "short"
    """For a first impression, and for a machine at work."""
    STANDARD = "standard"
    """At most a quarter of an hour on an idle machine."""
    LONG = "long"
    """Stores of gigabytes and millions of messages: an hour."""

    def of(self, short: float, standard: float, long: float) -> float:
        """Return one of the three."""
        return {"short": short, "standard": standard, "long": long}[self.value]

    def count(self, short: int, standard: int, long: int) -> int:
        """Return one of the three, a count."""
        return int(self.of(short, standard, long))


def run(name: str, release: str, amount: Amount, *, progress: Progress) -> Report:
    """Run the measurement *name*."""
    return MEASUREMENTS[name](release, amount, progress)


def _send(size: send.Size) -> Callable[[str, Amount, Progress], Report]:
    def measured(release: str, amount: Amount, progress: Progress) -> Report:
        sized = send.Size(
            flush=size.flush,
            shapes=size.shapes,
            rounds=amount.count(1, 5, 7),
            seconds=amount.of(1.0, 2.0, 5.0),
        )
        return send.measure(release, sized, progress=progress)

    return measured


def _pull(release: str, amount: Amount, progress: Progress) -> Report:
    size = pull.Size(messages=amount.count(50_000, 200_000, 1_000_000))
    return pull.measure(release, size, progress=progress)


def _idle(release: str, amount: Amount, progress: Progress) -> Report:
    size = idle.Size(rounds=amount.count(1, 3, 5), seconds=amount.of(1.0, 3.0, 5.0))
    return idle.measure(release, size, progress=progress)


def _growth(release: str, amount: Amount, progress: Progress) -> Report:
    messages = growth.marks_up_to(
        amount.count(20_000, 100_000, 10_000_000), first=10_000, factor=10
    )
    topics = growth.marks_up_to(amount.count(100, 10_000, 10_000), first=1, factor=100)
    marks = growth.Marks(messages=messages, topics=topics)
    return growth.measure(release, marks, progress=progress)


def _start(release: str, amount: Amount, progress: Progress) -> Report:
    return start.measure(release, amount.count(1, 5, 7), progress=progress)


def _recovery(release: str, amount: Amount, progress: Progress) -> Report:
    return recovery.measure(release, amount.of(0.05, 0.5, 4.0), progress=progress)


def _namesrv(release: str, amount: Amount, progress: Progress) -> Report:
    size = namesrv.Size(
        rounds=amount.count(1, 3, 5),
        seconds=amount.of(0.5, 1.5, 3.0),
        topics=amount.count(1_000, 10_000, 10_000),
    )
    return namesrv.measure(release, size, progress=progress)


def _codec(release: str, amount: Amount, progress: Progress) -> Report:
    from bench.measurements.codec import measure
    from bench.processes.recorded_log import recorded_log

    log = recorded_log(f"jvm:{release}", fresh=False)
    return measure(
        log, release=release, rounds=amount.count(1, 3, 5), progress=progress
    )


def _audit(release: str, amount: Amount, progress: Progress) -> Report:
    from bench.measurements.audit import Run, measure

    of_amount = {"short": (0.0625,), "standard": (1.0,), "long": (0.25, 1.0, 4.0)}
    sizes = [int(size * (1 << 30)) for size in of_amount[amount.value]]
    rounds = amount.count(1, 2, 5)
    run = Run(master="local[2]", release=release, rounds=rounds)
    return measure(sizes, run, progress=progress)


def _cluster(release: str, amount: Amount, progress: Progress) -> Report:
    from bench.measurements.audit import Run
    from bench.measurements.cluster import measure

    size = amount.count(1, 1, 4) << 30
    run = Run(master="local[2]", release=release, rounds=amount.count(1, 2, 5))
    return measure({size: (2,)}, run, progress=progress)


def _cluster_curve(release: str, amount: Amount, progress: Progress) -> Report:
    from bench.measurements.audit import Run
    from bench.measurements.cluster import measure

    run = Run(
        master="local[2]",
        release=release,
        rounds=amount.count(1, 2, 2),
        is_uniform=True,
    )
    points: dict[int, tuple[int, ...]] = {1 << 30: (2,)}
    if amount is Amount.LONG:
        points |= {4 << 30: (1, 2, 3, 4), 16 << 30: (2,)}
    return measure(points, run, name="cluster-curve", progress=progress)


def _suite(release: str, amount: Amount, progress: Progress) -> Report:
    words = ("--only", "WIRE-FRAME-*") if amount is Amount.SHORT else ()
    return suite.measure(release, words, progress=progress)


MEASUREMENTS = {
    "send": _send(send.Size()),
    "send-sync-flush": _send(send.Size(flush="SYNC", shapes=(Shape(threads=16),))),
    "send-batch": _send(
        send.Size(shapes=(Shape(threads=4, kind=BATCH, batch=32),)),
    ),
    "send-oneway": _send(send.Size(shapes=(Shape(threads=4, kind=ONEWAY),))),
    "pull": _pull,
    "idle": _idle,
    "growth": _growth,
    "start": _start,
    "recovery": _recovery,
    "namesrv": _namesrv,
    "codec": _codec,
    "audit": _audit,
    "cluster": _cluster,
    "cluster-curve": _cluster_curve,
    "suite": _suite,
}

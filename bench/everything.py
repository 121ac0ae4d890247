"""
All measurements of brokers, by name, with the sizes that the page has.

A measurement that the machine has no time for can be left out: what was recorded of it
before stays on the page.
"""

from __future__ import annotations

from collections.abc import Callable

from bench import growth, idle, namesrv, pull, recovering, send, starting, suite
from bench.result import Report
from bench.send import BATCH, ONEWAY, Shape

Say = Callable[[str], None]
TITLES = {
    "send": "Sending, one by one",
    "send-sync-flush": "Sending with SYNC_FLUSH",
    "send-batch": "Sending batches",
    "send-oneway": "Sending without an answer",
    "pull": "Push consumption of stored messages",
    "idle": "A thousand consumers that wait",
    "growth": "Growth",
    "start": "Start",
    "recovery": "Start after a kill",
    "namesrv": "Routes",
    "codec": "Decoding a log",
    "suite": "The suite itself",
}
"""Names of measurements, and what the page calls them."""
FULL_MESSAGES = 1_000_000
FULL_GIGABYTES = 4.0


def run(name: str, release: str, *, short: bool, say: Say) -> Report:
    """Measure what *name* says; *short* is for a look, and for a machine at work."""
    return MEASUREMENTS[name](release, short, say)


def _send(size: send.Size) -> Callable[[str, bool, Say], Report]:
    def measured(release: str, short: bool, say: Say) -> Report:
        sized = send.Size(
            flush=size.flush,
            shapes=size.shapes,
            rounds=3 if short else 7,
            seconds=2.0 if short else 5.0,
        )
        return send.measure(release, sized, say=say)

    return measured


def _pull(release: str, short: bool, say: Say) -> Report:
    size = pull.Size(messages=FULL_MESSAGES // (10 if short else 1))
    return pull.measure(release, size, say=say)


def _idle(release: str, short: bool, say: Say) -> Report:
    size = idle.Size(seconds=2.0 if short else 5.0)
    return idle.measure(release, size, say=say)


def _growth(release: str, short: bool, say: Say) -> Report:
    most = 100_000 if short else 5 * FULL_MESSAGES
    messages = growth.marks_up_to(most, first=10_000, factor=10)
    return growth.measure(release, growth.Marks(messages=messages), say=say)


def _start(release: str, short: bool, say: Say) -> Report:
    return starting.measure(release, 3 if short else 7, say=say)


def _recovery(release: str, short: bool, say: Say) -> Report:
    return recovering.measure(release, 0.25 if short else FULL_GIGABYTES, say=say)


def _namesrv(release: str, short: bool, say: Say) -> Report:
    size = namesrv.Size(rounds=3 if short else 5, seconds=1.0 if short else 3.0)
    return namesrv.measure(release, size, say=say)


def _codec(release: str, short: bool, say: Say) -> Report:
    from bench.codec import measure
    from bench.recording import recorded_log

    log = recorded_log(f"jvm:{release}", fresh=False)
    return measure(log, release=release, rounds=2 if short else 5, say=say)


def _suite(release: str, short: bool, say: Say) -> Report:
    words = ("--only", "WIRE-FRAME-*") if short else ()
    return suite.measure(release, words, say=say)


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
    "suite": _suite,
}

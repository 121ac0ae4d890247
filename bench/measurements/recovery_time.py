"""
Time of a broker from its start to its first response, on a store that was killed.

Each broker gets a fresh copy of the same store, in turns. The copy is in the memory of
the system and has the holes of the killed broker's files. The clock starts with the
process. The name server of an Apache broker runs already; ours is part of our
process. Java's compiler works with its defaults.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec import Struct, field

from bench.processes.measured_process import processor_s
from bench.processes.servers import OPENS
from bench.report.result import Turn
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, RefusedError, require_success
from conformance.harness.client.peer_errors import PeerError, PeerMisbehavedError
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.targets.started.embedded import EmbeddedTarget
from conformance.harness.targets.target import parse_target

ROUNDS = 3
PAUSE_S = 0.002
JVM = "jvm:"


class Start(NamedTuple):
    """Times of a start."""

    serves_s: float
    """From the beginning of the process to its first response."""
    cpu_s: float
    """Processor time of the process until then, or a moment longer."""


class Compared(Struct, frozen=True, kw_only=True):
    """Starts of two targets on copies of one store."""

    store_bytes: int
    ms: Mapping[str, int]
    """Median until a target serves, by its text."""
    rounds: Mapping[str, Sequence[Turn]]
    ratio: float
    description: str = field(name="says")


class Watch:
    """Polls an address until it answers, and records the time of the response."""

    def __init__(self, address: Address, topic: str) -> None:
        self.answered_at: float | None = None
        self._address = address
        self._topic = topic
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()

    def end(self) -> float:
        """Return the time of the first response; the broker serves by now."""
        self._thread.join(timeout=30)
        self._enough.set()
        assert self.answered_at is not None, "a broker that is up does not answer"
        return self.answered_at

    def _poll(self) -> None:
        while not self._enough.is_set():
            try:
                with Client.connect(self._address) as client:
                    require_success(client.max_offset(topic=self._topic))
            except (PeerError, PeerMisbehavedError, RefusedError):
                time.sleep(PAUSE_S)
            else:
                self.answered_at = time.monotonic()
                return


def compared(
    saved: Path,
    targets: Sequence[str],
    *,
    settings: Mapping[str, str],
    topic: str,
    directory: Path,
    progress: Callable[[str], None],
) -> Compared:
    """Return the start times of two targets on copies of *saved*."""
    taken: dict[str, list[Start]] = {text: [] for text in targets}
    for number in range(ROUNDS):
        for text in targets:
            progress(f"recovery {number + 1} of {ROUNDS}: {text}")
            copy = directory / "copy"
            copy_store(saved, copy)
            taken[text].append(_start(text, copy, settings, topic, directory))
            shutil.rmtree(copy, ignore_errors=True)
    medians = {t: median(one.serves_s for one in rounds) for t, rounds in taken.items()}
    ours, theirs = (medians[text] for text in targets)
    return Compared(
        store_bytes=sum(f.stat().st_size for f in saved.rglob("*") if f.is_file()),
        ms={text: round(1000 * value) for text, value in medians.items()},
        rounds={t: [one._asdict() for one in r] for t, r in taken.items()},
        ratio=round(theirs / ours, 2),
        description=f"{targets[1]} takes so many times as long as {targets[0]}",
    )


def copy_store(store: Path, target: Path) -> None:
    """Copy *store* to *target*; what its files have no space for stays a hole."""
    shutil.copytree(store, target, copy_function=_copy_with_holes)


def _copy_with_holes(source: str, target: str) -> str:
    size = os.stat(source).st_size
    with open(source, "rb") as given, open(target, "wb") as copy:
        end = 0
        while end < size:
            try:
                begin = os.lseek(given.fileno(), end, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:  # nothing but a hole is left
                    raise
                break
            end = os.lseek(given.fileno(), begin, os.SEEK_HOLE)
            os.lseek(copy.fileno(), begin, os.SEEK_SET)
            while begin < end:
                begin += os.sendfile(copy.fileno(), given.fileno(), begin, end - begin)
        copy.truncate(size)
    return target


def _start(
    text: str, store: Path, settings: Mapping[str, str], topic: str, directory: Path
) -> Start:
    if text.startswith(JVM):
        home = directory / "apache"
        home.mkdir(exist_ok=True)
        return _apache_start(text.removeprefix(JVM), store, settings, topic, home)
    with parse_target(text, conf=settings) as target:
        assert isinstance(target, EmbeddedTarget), f"{text} is not the reference"
        # Only a started target has an address: the first start is on nothing.
        target.kill()
        target.starts_anew = True
        assert target.broker is not None
        assert target.store_path is not None
        shutil.rmtree(target.store_path)
        shutil.move(store, target.store_path)
        began = time.monotonic()
        watch = Watch(target.broker, topic)
        target.start()
        assert target.process_id is not None, "it has just started"
        return _took(watch, began, target.process_id)


def _apache_start(
    release: str, store: Path, settings: Mapping[str, str], topic: str, home: Path
) -> Start:
    names = ApacheCluster(release, directory=home)
    try:
        names.start(broker=False)
        brokers = ApacheCluster(
            release,
            directory=home,
            conf=settings,
            store=store,
            name_servers=(names.namesrv,),
            java_options=OPENS,
        )
        try:
            began = time.monotonic()
            watch = Watch(brokers.broker, topic)
            brokers.start()
            return _took(watch, began, brokers.process_ids[-1])
        finally:
            brokers.close()
    finally:
        names.close()


def _took(watch: Watch, began: float, process_id: int) -> Start:
    answered_at = watch.end()
    return Start(answered_at - began, processor_s(process_id))

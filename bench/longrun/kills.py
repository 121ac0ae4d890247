"""
A broker killed again and again under load: ``python -m bench.longrun.kills [COUNT]``.

Four producers send with SYNC_FLUSH. At a random moment the broker is killed with
SIGKILL and started on the same store, 200 times by default. Every acknowledged message
must be at the offset of its response, none twice. No offset of a queue may be missing.

At the end the killed store is copied. The reference and Apache's broker start on copies
in turns. The figure is the time from the start of the process to its first response.

The run fails, with 1, when a message is lost or there twice, or a queue has a gap.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import to_builtins

from bench.measurements.recovery_time import compared
from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.targets.target import Target, parse_target
from conformance.recovery.load import Acknowledged, Load
from conformance.recovery.queue_checks import ends_of, found_by_key, key_of, pulled
from conformance.recovery.restart import start_after_kill

COUNT = 200
QUEUES = 3
FEWEST, MOST = 20, 400
"""Acknowledged messages between a start and a kill."""
KEYS_A_ROUND = 20
"""Messages of each round that are also queried by their keys."""
OTHER = "jvm:4.6.0"
SETTINGS = {
    "flushDiskType": "SYNC_FLUSH",
    "mapedFileSizeCommitLog": str(1024 * 1024),
    "mapedFileSizeConsumeQueue": str(20 * 2000),
    "maxHashSlotNum": "5000",
    "maxIndexNum": "20000",
}


@dataclass(slots=True)
class Figures:
    """Observations of a run so far."""

    kills: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    """Keys of messages that were acknowledged and are not there."""
    twice: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    """Queues whose offsets are not dense, and after which kill."""
    keys_queried: int = 0
    keys_not_found: int = 0
    starts_s: list[float] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost, doubled or left out."""
        return not (self.lost or self.twice or self.gaps or self.keys_not_found)

    def as_json(self) -> dict[str, object]:
        """Return the figures as the run prints them."""
        return {
            "kills": self.kills,
            "acknowledged": self.acknowledged,
            "lost": len(self.lost),
            "duplicates": len(self.twice),
            "gaps": len(self.gaps),
            "keys_queried": self.keys_queried,
            "keys_not_found": self.keys_not_found,
            "examples": [*self.lost[:5], *self.twice[:5], *self.gaps[:5]],
            "start_ms": {
                "median": round(1000 * median(self.starts_s)) if self.starts_s else 0,
                "max": round(1000 * max(self.starts_s, default=0)),
            },
        }


class Run:
    """Kills of one broker, and what is known of its store."""

    def __init__(self, target: Target, seed: int) -> None:
        self.figures = Figures()
        self.topic = unique_name("kills")
        self._target = target
        # A seed makes load and counts the same; the moment is the machine's.
        self._chance = random.Random(seed)  # noqa: S311
        self._seen: dict[str, tuple[int, int]] = {}
        """Queue and offset of each key."""
        self._ends = dict.fromkeys(range(QUEUES), 0)

    def prepare(self) -> None:
        """Create the topic."""
        with self._target.connect_to_broker() as broker:
            require_success(broker.create_topic(topic=self.topic, queue_count=QUEUES))

    def kill(self) -> list[Acknowledged]:
        """Load the broker, kill it; return what it had acknowledged."""
        assert self._target.broker is not None
        load = Load(
            self._target.broker,
            self.topic,
            queue_count=QUEUES,
            seed=self._chance.randrange(2**31),
        )
        with load.running():
            load.wait_for(self._chance.randint(FEWEST, MOST), timeout_s=60)
            self._target.kill()
        return load.done()

    def start(self) -> None:
        """Start the broker on what it left."""
        began = time.monotonic()
        start_after_kill(self._target)
        self.figures.starts_s.append(time.monotonic() - began)

    def check(self, owed: Sequence[Acknowledged]) -> None:
        """Search *owed*, and check everything that is new in the queues."""
        self.figures.kills += 1
        self.figures.acknowledged += len(owed)
        with self._target.connect_to_broker() as broker:
            self._read(broker)
            self._check_found(owed)
            sample = self._chance.sample(owed, min(KEYS_A_ROUND, len(owed)))
            self._query_keys(broker, sample)

    def check_all(self, owed: Sequence[Acknowledged]) -> None:
        """Read all queues again from their beginning and search all of *owed*."""
        self._seen.clear()
        self._ends = dict.fromkeys(self._ends, 0)
        with self._target.connect_to_broker() as broker:
            self._read(broker)
        self._check_found(owed)

    def _read(self, broker: Client) -> None:
        for queue_id, known in self._ends.items():
            least, most = ends_of(broker, self.topic, queue_id)
            offset = known
            for record in pulled(broker, self.topic, queue_id, offset=known):
                self._note(key_of(record), queue_id, record.queue_offset)
                offset += record.queue_offset == offset
            if (least, offset) != (0, most):
                span = f"queue {queue_id}: {least} to {most}, dense up to {offset}"
                self.figures.gaps.append(f"{span}, after kill {self.figures.kills}")
            self._ends[queue_id] = most

    def _note(self, key: str, queue_id: int, offset: int) -> None:
        if key in self._seen:
            self.figures.twice.append(key)
        self._seen[key] = (queue_id, offset)

    def _check_found(self, owed: Iterable[Acknowledged]) -> None:
        for one in owed:
            if self._seen.get(one.key) != (one.queue_id, one.queue_offset):
                self.figures.lost.append(one.key)

    def _query_keys(self, broker: Client, owed: Iterable[Acknowledged]) -> None:
        for one in owed:
            self.figures.keys_queried += 1
            found = found_by_key(broker, one.topic, one.key)
            self.figures.keys_not_found += one.key not in found


def measure(
    target: Target,
    *,
    count: int = COUNT,
    seed: int,
    other: str | None = OTHER,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Kill *target* *count* times; return the figures."""
    began = time.monotonic()
    run = Run(target, seed)
    run.prepare()
    owed: list[Acknowledged] = []
    for number in range(1, count + 1):
        progress(f"kill {number} of {count}, {len(owed)} acknowledged")
        done = run.kill()
        owed += done
        run.start()
        run.check(done)
    run.check_all(owed)
    run.kill()
    figures: dict[str, Any] = {
        "schema": 1,
        "target": target.text,
        "release": target.release,
        "seed": seed,
        **run.figures.as_json(),
        "clean": run.figures.is_clean,
    }
    if other is not None:
        figures["recovery"] = _compared(target, other, run.topic, progress)
    return {**figures, "seconds": round(time.monotonic() - began, 1)}


def _compared(
    target: Target, other: str, topic: str, progress: Callable[[str], None]
) -> dict[str, object]:
    assert target.store_path is not None
    with tempfile.TemporaryDirectory(prefix="bench-kills-") as directory:
        saved = Path(directory) / "killed"
        shutil.copytree(target.store_path, saved)
        found: dict[str, object] = to_builtins(
            compared(
                saved,
                (target.text, other),
                settings=SETTINGS,
                topic=topic,
                directory=Path(directory),
                progress=progress,
            )
        )
        return found


def main(words: Sequence[str] | None = None) -> int:
    """Run with the command line's options; return the exit code."""
    parser = argparse.ArgumentParser(prog="bench.longrun.kills", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=COUNT)
    parser.add_argument("--target", default="embedded:", help="(default: %(default)s)")
    parser.add_argument("--other", default=OTHER, help="whose recovery time to compare")
    parser.add_argument("--alone", action="store_true", help="compare with nobody")
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args(words)
    seed = given.seed
    if seed is None:
        seed = random.SystemRandom().randrange(2**31)

    def progress(text: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{text:<70}")

    with parse_target(given.target, conf=SETTINGS) as target:
        other = None if given.alone else given.other
        figures = measure(
            target, count=given.count, seed=seed, other=other, progress=progress
        )
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    return 0 if figures["clean"] else 1


if __name__ == "__main__":
    sys.exit(main())

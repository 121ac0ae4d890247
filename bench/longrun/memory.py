"""
Memory of the reference broker while gigabytes pass through it.

    python -m bench.longrun.memory [GIGABYTES]

A producer sends messages to a broker with the file sizes of a real one, and a consumer
pulls each of them. The memory of the process is read after each sixteenth of the
messages. Pages of mapped files count as memory while they are in use. The figure
therefore has two parts: anonymous memory, and that of files.

The exit code is 1 if the second half of the messages needed more memory than the
first, plus an allowance. It is also 1 if a message did not come back. The store
is as large as the messages. It is in a temporary directory and is deleted at the end.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.targets.started.embedded import EmbeddedTarget
from spec.store.commit_log import scan

GIBIBYTE = 1024**3
MEBIBYTE = 1024**2
STEPS = 16
BODY_SIZE = 256 * 1024
PER_CONNECTION = 256
QUEUES = 4
A_LITTLE = 48 * MEBIBYTE
"""Allowance for the second half, for the reader's pauses and the index's pages."""
REAL_SIZES = {
    "mapedFileSizeCommitLog": str(GIBIBYTE),
    "mapedFileSizeConsumeQueue": "6000000",
    "maxHashSlotNum": "5000000",
    "maxIndexNum": "20000000",
}


class Memory(NamedTuple):
    """The resident memory of a process, in bytes."""

    own: int
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Messages so far, and the memory at each step."""

    messages: int
    pulled: int
    bytes: int
    duration_s: float
    steps: tuple[Memory, ...]

    @property
    def halves(self) -> tuple[int, int]:
        """The most memory in the first half and in the second."""
        sums = [step.own + step.files for step in self.steps]
        middle = len(sums) // 2
        return max(sums[:middle]), max(sums[middle:])

    @property
    def is_flat(self) -> bool:
        """Whether the second half needed hardly more, and nothing was lost."""
        first, second = self.halves
        return second <= first + A_LITTLE and self.pulled == self.messages


def resident_memory(process_id: int) -> Memory:
    """Return the memory of a process, as Linux counts it page by page."""
    found = {}
    for line in Path(f"/proc/{process_id}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, value = line.partition(":")
        found[name] = int(value.split()[0]) * 1024
    return Memory(found["Anonymous"], found["Rss"] - found["Anonymous"])


def pass_through(
    target: EmbeddedTarget,
    size: int,
    *,
    body_size: int,
    progress: Callable[[str], None],
) -> Passage:
    """Send and pull *size* bytes; return what was seen."""
    assert target.process_id is not None
    topic, body = unique_name("memory"), bytes(range(256)) * (body_size // 256)
    count = size // body_size
    ends = dict.fromkeys(range(QUEUES), 0)
    steps, pulled, began_s = [], 0, time.monotonic()
    with target.connect_to_broker() as broker:
        require_success(broker.create_topic(topic=topic, queue_count=QUEUES))
    for step in range(1, STEPS + 1):
        wanted = range(count * (step - 1) // STEPS, count * step // STEPS)
        for begin in range(wanted.start, wanted.stop, PER_CONNECTION):
            # A connection of the suite remembers all that it sent and received.
            with target.connect_to_broker() as broker:
                some = wanted[begin - wanted.start :][:PER_CONNECTION]
                send_some(broker, topic, body, some)
                pulled += pull_new(broker, topic, ends)
        steps.append(resident_memory(target.process_id))
        own, files = (part // MEBIBYTE for part in steps[-1])
        progress(f"{step}/{STEPS}: own {own} MiB, files {files} MiB")
    return Passage(
        messages=count,
        pulled=pulled,
        bytes=count * body_size,
        duration_s=time.monotonic() - began_s,
        steps=tuple(steps),
    )


def send_some(broker: Client, topic: str, body: bytes, numbers: range) -> None:
    """Send a message for each of *numbers*, to the queues in turn."""
    for number in numbers:
        response = broker.send_message(
            topic=topic,
            queue_id=number % QUEUES,
            body=body,
            properties={"KEYS": f"k{number}"},
        )
        require_success(response)


def pull_new(broker: Client, topic: str, ends: dict[int, int]) -> int:
    """Pull what is new in each queue; return how many messages that were."""
    count = 0
    for queue_id in ends:
        last = require_success(broker.max_offset(topic=topic, queue_id=queue_id))
        while ends[queue_id] < int(last.fields["offset"]):
            response = broker.pull(
                topic=topic, queue_id=queue_id, offset=ends[queue_id]
            )
            count += len(scan(require_success(response).body, check_crc=False).records)
            ends[queue_id] = int(response.fields["nextBeginOffset"])
    return count


def main(arguments: list[str] | None = None) -> int:
    """Let the bytes pass, print the figures, and return the exit code."""
    given = _parser().parse_args(arguments)
    size = int(given.gigabytes * 1000**3)
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < 2 * size:
        sys.stderr.write(f"{tempfile.gettempdir()} has room for {free} bytes only\n")
        return 2
    with EmbeddedTarget("embedded:", conf=REAL_SIZES) as target:
        passage = pass_through(
            target, size, body_size=given.body_size, progress=_log_progress
        )
    first, second = passage.halves
    shown = asdict(passage) | {
        "first_half_mib": first // MEBIBYTE,
        "second_half_mib": second // MEBIBYTE,
        "is_flat": passage.is_flat,
    }
    sys.stdout.write(json.dumps(shown) + "\n")
    return 0 if passage.is_flat else 1


def _log_progress(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.longrun.memory", description=__doc__)
    parser.add_argument("gigabytes", nargs="?", type=float, default=5.0)
    parser.add_argument("--body-size", type=int, default=BODY_SIZE)
    return parser


if __name__ == "__main__":
    sys.exit(main())

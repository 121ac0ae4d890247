"""
A disk that fills: what a broker deletes and refuses at which fullness.

The store lies on a small disk of its own. Two of the log's files are old, two young,
and it is not the hour for deleting. The disk is made fuller step by step, and then
emptier, and after each step the broker is watched until it has had its round.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime, timedelta

from conformance.harness.process.small_disk import NoSmallDiskError, SmallDisk, mount
from conformance.harness.process.workspace import Workspace
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Capability, Target
from conformance.store.disk import expired_files as ageing
from conformance.store.workload import Outgoing, send_all
from spec.store.file_names import ABORT

DISK_MB = 128
"""Size of the disk. 5.x needs a part of it for its timer."""
LOG_FILES = 5
OLD = 2
"""Files, the oldest, that are older than they are kept for."""
CALM, STEPS = 0.5, (0.8, 0.88, 0.93, 0.88, 0.5, 0.93)
"""Used part of the disk in the first round, and in each further one."""
FIRST_S, PERIOD_S = 66.0, 5.0
"""From a start until after the first round; from one round to the next."""
LOOK_S = 12.0
"""Longest time until a release from 4.7.1 on finds that the disk has space again.

It checks every 10 s, independently of its cleaning rounds.
"""
HASTENED_PERIOD_S = 10.0
"""Period on a hastened clock: slow tests must observe each round before the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An observation after a cleaning round."""

    used: float
    """Used part of the disk."""
    log_files: int
    code: int
    """With which a message was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """Observations of a store on a disk that fills."""

    unsupported: str = ""
    """Why nothing could be seen."""
    steps: tuple[Step, ...] = ()
    is_abort_left: bool = False
    """Whether there was an abort file after a stop on the full disk."""


def settings(period_s: float) -> Mapping[str, str]:
    """Return the settings of a broker that does not delete at this time of day."""
    other = datetime.now().astimezone() + timedelta(hours=12)
    return {
        **ageing.SETTINGS,
        "cleanResourceInterval": f"{period_s * 1000:.0f}",
        "deleteWhen": f"{other.hour:02}",
        "diskMaxUsedSpaceRatio": "75",
        "rocketmq.broker.diskSpaceWarningLevelRatio": "0.90",
        "rocketmq.broker.diskSpaceCleanForciblyRatio": "0.85",
    }


def filled(target: Target, ending: threading.Event) -> Filled:
    """Let *target*, which is not started yet, live on a disk that fills."""
    is_hastened = Capability.CLOCK in target.capabilities
    period_s = HASTENED_PERIOD_S if is_hastened else PERIOD_S
    target.conf.update(settings(period_s))
    with closing(Workspace()) as workspace, ExitStack() as stack:
        try:
            place = mount(workspace.path / "disk", size_mb=DISK_MB)
            disk = stack.enter_context(place)
        except NoSmallDiskError as error:
            return Filled(unsupported=str(error))
        stack.callback(target.close)
        target.store_path = disk.path / "store"
        steps = tuple(_live(target, disk, ending, period_s=period_s))
        target.stop()
        is_abort_left = (target.store_path / ABORT).exists()
        return Filled(steps=steps, is_abort_left=is_abort_left)


def _live(
    target: Target, disk: SmallDisk, ending: threading.Event, *, period_s: float
) -> Iterator[Step]:
    target.start()
    topic = create_topic(target, unique_name("filling"), queue_count=1)
    message = Outgoing(topic=topic, body=ageing.BODY)
    send_all(target, [message] * (LOG_FILES * 10 - 5))
    target.stop()
    assert target.store_path is not None
    files = StoreFiles(target.store_path)
    ageing.make_old(files, spared=range(OLD, LOG_FILES))
    disk.fill_to(CALM)
    if Capability.CLOCK in target.capabilities:
        target.clock_rate = ageing.CLOCK_RATE
    target.start()
    wait_s, before = FIRST_S, CALM
    for used in (CALM, *STEPS):
        disk.fill_to(used)
        if used < before:
            wait_s = max(wait_s, LOOK_S)
        if ending.wait(wait_s / target.clock_rate):
            raise TimeoutError("the run ended before the disk was full")
        with target.connect_to_broker() as broker:
            response = broker.send_message(topic=topic, body=b"is there room?")
        count = len(files.log_files())
        yield Step(used=used, log_files=count, code=response.code)
        before = used
        wait_s = 1.5 * period_s + 1  # until after the next round

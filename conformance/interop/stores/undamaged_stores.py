"""
Stores of real brokers after events that are no damage.

Old files expired, or queues and index were deleted and built again. Others were copied
while the broker wrote, have an IPv6 address in their records, or were written by
several releases in turn.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

from conformance.harness.client.client import Client, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.process.deadline import wait_until
from conformance.harness.releases import PINNED
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.handover.handover import client_of, target_text
from conformance.interop.stores.settings import PROMPT, SMALL_FILES
from conformance.interop.stores.traffic import PATIENCE_S, create_places, fill
from spec.clause import release_key
from spec.wire.remoting.request_code import RequestCode

CONF = {
    **SMALL_FILES,
    **PROMPT,
    # Its files of 140 MB would be copied with each store.
    "timerWheelEnable": "false",
}
NEVER = {"fileReservedTime": "0", "deleteWhen": "99"}
"""Every file is old, but no hour is right for a deletion."""
EXPIRY = {
    "fileReservedTime": "0",
    "deleteWhen": ";".join(f"{hour:02}" for hour in range(24)),
    "cleanResourceInterval": "500",
    "deleteCommitLogFilesInterval": "10",
    "deleteConsumeQueueFilesInterval": "10",
}
"""Every file but the last is deleted within a second."""
IN_ROCKSDB = {
    "storeType": "defaultRocksDB",
    "transRocksDBEnable": "true",
    "transWriteOriginTransHalfEnable": "false",
}
"""Queues and the state of transactions are in RocksDB, from 5.4 on."""
DELETED = ("AuditAgain", "AuditGone")
"""Topics that are deleted; the first of them is created again, with fewer queues."""
DELETED_QUEUES, DELETED_COUNT = 2, 5
"""Queues of each of them, and messages of each queue."""
COUNT = 240
HAS_REQUEST = (4, 9, 4)
"""First release with DELETE_EXPIRED_COMMITLOG."""
_LOG_FIRST = ("commitlog", "checkpoint", "config", "index", "consumequeue")


@contextmanager
def broker_of(
    release: str, store: Path, conf: Mapping[str, str] = CONF
) -> Iterator[tuple[Target, Client]]:
    """Lend a broker of *release* on *store*, and who speaks to it."""
    target = parse_target(target_text(release), conf=conf, store=store)
    with target, client_of(target) as broker:
        create_places(broker)
        yield target, broker


def leave_expired(release: str, directory: Path) -> dict[str, Path]:
    """Let files expire; return the store after a stop, later writes and a kill."""
    kept: dict[str, Path] = {}
    store = directory / "expired"
    with broker_of(release, store, {**CONF, **NEVER}) as (target, broker):
        fill(broker, "old", count=COUNT)
        if release_key(release) >= HAS_REQUEST:
            require_success(broker.invoke(RequestCode.DELETE_EXPIRED_COMMITLOG, {}))
            wait_until(
                lambda: begin_of(store, "commitlog") > 0,
                what="files are deleted",
                timeout_s=PATIENCE_S,
            )
        target.stop()
    kept["deleted by request"] = copy_of(store, directory / "requested")
    with broker_of(release, store, {**CONF, **EXPIRY}) as (target, broker):
        fill(broker, "expiring", count=COUNT)
        wait_until(
            lambda: begin_of(store, "commitlog") > 0 and has_expired_queue(store),
            what="files expire",
            timeout_s=PATIENCE_S,
        )
        target.stop()
    kept["expired"] = copy_of(store, directory / "expired-stopped")
    with broker_of(release, store) as (target, broker):
        fill(broker, "later", count=COUNT // 4)
        target.kill()
    kept["expired, killed"] = store
    return kept


def begin_of(store: Path, folder: str) -> int:
    """Return the first offset of the files in *folder*; 0 without a file."""
    names = [path.name for path in (store / folder).iterdir() if path.name.isdecimal()]
    return min(map(int, names), default=0)


def has_expired_queue(store: Path) -> bool:
    """Return whether the first file of a queue of the traffic has gone."""
    return begin_of(store, "consumequeue/AuditTraffic/0") > 0


def copy_of(store: Path, place: Path) -> Path:
    """Copy *store*."""
    return shutil.copytree(store, place)


def leave_rebuilt(release: str, directory: Path) -> dict[str, Path]:
    """Delete queues, index or both; return the stores after another start."""
    whole, kept = directory / "whole", {}
    with broker_of(release, whole) as (target, broker):
        fill(broker, "first", count=COUNT)
        target.stop()
    for name, folders in {
        "queues built again": ["consumequeue"],
        "index built again": ["index"],
        "both built again": ["consumequeue", "index"],
    }.items():
        store = kept[name] = copy_of(whole, directory / name.replace(" ", "-"))
        for folder in folders:
            shutil.rmtree(store / folder)
        with broker_of(release, store) as (target, broker):
            fill(broker, "again", count=COUNT // 10)
            target.stop()
    return kept


def leave_copies(release: str, directory: Path) -> dict[str, Path]:
    """Copy a store while its broker writes, log first or queues first."""
    store, kept, is_copied = directory / "store", {}, Event()
    with broker_of(release, store) as (target, broker):
        fill(broker, "before", count=COUNT)
        with ThreadPoolExecutor(1) as pool:
            under_way = pool.submit(_fill_until, is_copied, target)
            try:
                for name, order in {
                    "copied, log first": _LOG_FIRST,
                    "copied, queues first": _LOG_FIRST[::-1],
                }.items():
                    kept[name] = directory / name.replace(", ", "-")
                    copy_while_written(store, kept[name], order)
            finally:
                is_copied.set()
            assert under_way.result() > 0
        target.kill()
    kept["killed under load"] = store
    return kept


def copy_while_written(store: Path, place: Path, order: tuple[str, ...]) -> None:
    """Copy the parts of *store* in this order, and the rest at the end."""
    place.mkdir()
    rest = [path.name for path in store.iterdir() if path.name not in order]
    for name in (*order, *rest):
        part = store / name
        if part.is_dir():
            shutil.copytree(part, place / name, copy_function=_copy_if_there)
        elif part.exists():
            _copy_if_there(part, place / name)


def _copy_if_there(source: str | Path, target: str | Path) -> None:
    """Copy a file unless it is gone: a broker replaces those of config."""
    with suppress(FileNotFoundError):
        shutil.copy2(source, target)


def _fill_until(is_over: Event, target: Target) -> int:
    """Send messages until *is_over*; return the number of rounds."""
    rounds = 0
    with client_of(target) as broker:
        while not is_over.is_set():
            fill(broker, f"during-{rounds}", count=40)
            rounds += 1
    return rounds


def leave_ipv6(release: str, directory: Path) -> dict[str, Path]:
    """Let a broker with the address ::1 store messages."""
    store = directory / "ipv6"
    conf = {**CONF, "brokerIP1": "::1", "brokerIP2": "::1"}
    cluster = ApacheCluster(release, directory=directory, conf=conf, store=store)
    try:
        cluster.start(broker=False)
        # It registers as ::1, and listens at 127.0.0.1.
        cluster.start_broker_alone()
        with Client.connect(cluster.broker) as broker:
            create_places(broker)
            fill(broker, "ipv6", count=COUNT // 4)
        cluster.stop()
    finally:
        cluster.close()
    return {"IPv6": store}


def leave_deleted(release: str, directory: Path) -> dict[str, Path]:
    """Delete two topics and create one of them again; return the stopped store.

    A broker of 5.3.3 without a timer fails to delete a topic.
    """
    store = directory / "deleted"
    with broker_of(release, store, {**CONF, "timerWheelEnable": "true"}) as lent:
        target, broker = lent
        for name in DELETED:
            _send_to_new(broker, name, queue_count=DELETED_QUEUES)
        fill(broker, "before", count=COUNT // 4)
        for name in DELETED:
            require_success(broker.delete_topic(topic=name))
        _send_to_new(broker, DELETED[0], queue_count=1)
        fill(broker, "after", count=COUNT // 4)
        target.stop()
    return {"topics deleted": store}


def _send_to_new(broker: Client, topic: str, *, queue_count: int) -> None:
    """Create *topic*, and send DELETED_COUNT messages to each of its queues."""
    require_success(broker.create_topic(topic=topic, queue_count=queue_count))
    for queue_id in range(queue_count):
        for _ in range(DELETED_COUNT):
            require_success(broker.send_message(topic=topic, queue_id=queue_id))
        broker.wait_for_max_offset(
            topic=topic, queue_id=queue_id, offset=DELETED_COUNT, timeout_s=PATIENCE_S
        )


def leave_rocksdb(release: str, directory: Path) -> dict[str, Path]:
    """Let RocksDB have queues and transactions; return the stopped and killed store."""
    store = directory / "rocksdb"
    with broker_of(release, store, {**CONF, **IN_ROCKSDB}) as (target, broker):
        fill(broker, "first", count=COUNT // 2)
        target.stop()
    kept = {"RocksDB": copy_of(store, directory / "rocksdb-stopped")}
    with broker_of(release, store, {**CONF, **IN_ROCKSDB}) as (target, broker):
        fill(broker, "again", count=COUNT // 4)
        target.kill()
    kept["RocksDB, killed"] = store
    return kept


def leave_successions(directory: Path) -> dict[str, Path]:
    """Let each release go on, upward, then downward; return the store after each."""
    store, kept = directory / "store", {}
    for number, release in enumerate((*PINNED, *reversed(PINNED[:-1]))):
        with broker_of(release, store) as (target, broker):
            fill(broker, f"{number}-{release}", count=60)
            target.stop()
        name = f"{number} after {release}"
        kept[name] = copy_of(store, directory / name.replace(" ", "-"))
    return kept

"""
Stores of real brokers: stopped, continued, killed, and recovered.

One store goes through all stages, and a copy of each stage is kept. Its content is that
of a handover (``handover.write``), in small files that roll over, with compressed
bodies. Unfinished operations end after a restart, and a producer answers checks of half
messages.
"""

from __future__ import annotations

import random
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from conformance.harness.client.client import Client, require_success
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.handover.handover import (
    READER_SETTINGS,
    TOPICS,
    WRITER_SETTINGS,
    Written,
    client_of,
    target_text,
)
from conformance.interop.handover.pending import Producer, finish, go_on
from conformance.interop.handover.send import PATIENCE_S
from conformance.interop.handover.write import reached_offsets, write
from spec.clause import release_key
from spec.store.message_record import SystemFlag

STOPPED, GONE_ON, KILLED = "stopped", "gone on", "killed"
STRUCK, RECOVERED = "killed while it stored", "recovered"
DAMAGED = "recovered, and damaged"
STAGES = (STOPPED, GONE_ON, KILLED, STRUCK, RECOVERED)
PACKED = "AuditPacked"
BODY = b"a body that is worth packing " * 40
BURST = 600
"""Messages that are sent without waiting for responses."""
_NOT_AUDITED = shutil.ignore_patterns("timerlog", "timerwheel*", "timercheck*")
"""Files of 140 MB since 5.0, not copied; the last stage, which is no copy, has them."""


def leave_stores(release: str, directory: Path) -> dict[str, Path]:
    """Let *release* write a store below *directory*; return copies of its stages."""
    store, kept = directory / "store", {RECOVERED: directory / "store"}

    def keep(stage: str) -> None:
        kept[stage] = directory / stage.replace(" ", "-")
        shutil.copytree(store, kept[stage], ignore=_NOT_AUDITED)

    written = begin(release, store)
    keep(STOPPED)
    continue_with(release, store, written)
    keep(GONE_ON)
    with opened(release, store) as (target, broker):
        go_on(broker, written)
        send_packed(broker, release, begin=2)
        target.kill()
    keep(KILLED)
    with opened(release, store) as (target, broker):
        strike(target, broker)
    keep(STRUCK)
    with opened(release, store) as (target, broker):
        go_on(broker, written)
        target.stop()
    return kept


def begin(release: str, store: Path) -> Written:
    """Let *release* fill a new store and stop."""
    text = target_text(release)
    with parse_target(text, conf=WRITER_SETTINGS, store=store) as target:
        with client_of(target) as broker:
            written = write(
                broker, release=release, store=store, offsets=reached_offsets
            )
            require_success(broker.create_topic(topic=PACKED, queue_count=1))
            send_packed(broker, release, begin=0)
        target.stop()
    return written


def continue_with(release: str, store: Path, written: Written) -> None:
    """Let *release* open a store, finish what it had begun, write more and stop."""
    with opened(release, store) as (target, broker):
        with client_of(target) as client:
            finish(broker, Producer(client), written)
            go_on(broker, written)
        target.stop()


@contextmanager
def opened(release: str, store: Path) -> Iterator[tuple[Target, Client]]:
    """Lend a broker of *release* on an existing store, and who speaks to it."""
    text = target_text(release)
    with (
        parse_target(text, conf=READER_SETTINGS, store=store) as target,
        client_of(target) as broker,
    ):
        yield target, broker


def packings(release: str) -> dict[int, Callable[[bytes], bytes]]:
    """Return in what ways clients of *release* pack a body, by the flags they set."""
    plain = int(SystemFlag.COMPRESSED)
    ways: dict[int, Callable[[bytes], bytes]] = {plain: zlib.compress}
    if release_key(release) >= (5,):
        # 5.3.3 common.compression.CompressionType#getCompressionFlag
        ways[plain | 0x100] = pa.Codec("lz4").compress
        ways[plain | 0x200] = pa.Codec("zstd").compress
        ways[plain | 0x300] = zlib.compress
    return ways


def send_packed(broker: Client, release: str, *, begin: int) -> None:
    """Send two bodies of each packing; the queue has as many *begin* times over."""
    ways = packings(release)
    for flags, pack in ways.items():
        for number in range(2):
            response = broker.send_message(
                topic=PACKED,
                body=bytes(pack(BODY)),
                system_flags=flags,
                properties={"KEYS": f"packed-{begin}-{flags}-{number}", "TAGS": "Zip"},
            )
            require_success(response)
    end = (begin + 2) * len(ways)
    broker.wait_for_max_offset(topic=PACKED, offset=end, timeout_s=PATIENCE_S)


def strike(target: Target, broker: Client) -> None:
    """Kill the broker while it stores messages whose senders do not wait."""
    for number in range(BURST):
        broker.send_message(
            topic=PACKED,
            body=random.Random(number).randbytes(400),  # noqa: S311 # no secret
            properties={"KEYS": f"burst-{number}", "UNIQ_KEY": f"Uburst-{number}"},
            oneway=number > 0,
        )
    target.kill()


def damage_a_body(store: Path, copy: Path) -> tuple[str, int]:
    """Turn a byte over in a copy of *store*; return the record's file and position."""
    shutil.copytree(store, copy, ignore=_NOT_AUDITED)
    files = StoreFiles(copy).log_files()
    middle = files[len(files) // 2]
    usual = {*TOPICS, PACKED}
    placed = next(
        one
        for one in middle.scan.records
        if one.record.topic in usual and len(one.record.body) > 100
    )
    position = placed.offset - middle.begin_offset
    path = copy / "commitlog" / middle.name
    data = bytearray(path.read_bytes())
    at = data.index(placed.record.body, position) + len(placed.record.body) // 2
    data[at] ^= 0xFF
    path.write_bytes(data)
    return f"commitlog/{middle.name}", position

"""kill -9 at a random moment under load, and what is there after the next start."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.targets.target import Target
from conformance.recovery.kills.transactions import Transactions, end, send_delayed
from conformance.recovery.load import Acknowledged, Load, Send, send_batch, send_one
from conformance.recovery.queue_checks import (
    check_keys,
    check_survivors,
    key_of,
    pulled,
)
from conformance.recovery.restart import start_after_kill
from conformance.recovery.small_files import SMALL_FILES

pytestmark = [pytest.mark.long, pytest.mark.needs("wire", "store", "config", "kill")]

QUEUES = 3
KILLS = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 2
"""Kills one after the other, each on what the one before left."""
FEWEST, MOST = 40, 250
"""Acknowledged messages between a start and a kill."""
LOAD_TIMEOUT_S = 60.0
DELIVERY_TIMEOUT_S = 30.0


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Return the seed of the kill times: RECOVERY_SEED, or a random one."""
    chosen = os.environ.get("RECOVERY_SEED")
    found = int(chosen) if chosen else random.SystemRandom().randrange(2**31)
    # pytest's record_property warns, and so fails, in a run that writes JUnit XML.
    request.node.user_properties.append(("RECOVERY_SEED", found))
    return found


def started(start_target: TargetStarter, settings: Mapping[str, str]) -> Target:
    """Return a target with small files and *settings*."""
    return start_target({**SMALL_FILES, **settings})


def killed_under_load(
    target: Target, topic: str, chance: random.Random, send: Send
) -> list[Acknowledged]:
    """Load *target*, kill it at some moment; return what it had acknowledged."""
    assert target.broker is not None
    load = Load(
        target.broker,
        topic,
        queue_count=QUEUES,
        seed=chance.randrange(2**31),
        send=send,
    )
    with load.running():
        load.wait_for(chance.randint(FEWEST, MOST), timeout_s=LOAD_TIMEOUT_S)
        target.kill()
    return load.done()


def survive(target: Target, *, clause: str, seed: int, send: Send) -> None:
    """Kill *target* repeatedly; check each time the messages that are left."""
    # A seed makes the load the same and the counts; the moment is the machine's.
    chance = random.Random(seed)  # noqa: S311
    topic = create_topic(target, unique_name("kills"), queue_count=QUEUES)
    owed: list[Acknowledged] = []
    for _ in range(KILLS):
        owed += killed_under_load(target, topic, chance, send)
        start_after_kill(target)
        with target.connect_to_broker() as broker:
            check_survivors(broker, owed, clause=clause, seed=seed)
            check_keys(broker, owed, seed=seed)


@pytest.mark.clause(
    "REC-CRASH-001", "REC-CRASH-002", "REC-CRASH-003", "REC-DISPATCH-005"
)
@pytest.mark.clause("STORE-FLUSH-001")
def test_what_was_flushed_survives_kills(
    start_target: TargetStarter, seed: int
) -> None:
    target = started(start_target, {"flushDiskType": "SYNC_FLUSH"})
    survive(target, clause="STORE-FLUSH-001", seed=seed, send=send_one)


@pytest.mark.clause(
    "REC-CRASH-001", "REC-CRASH-002", "REC-CRASH-003", "REC-DISPATCH-005"
)
@pytest.mark.clause("STORE-FLUSH-002")
@pytest.mark.parametrize("send", [send_one, send_batch])
def test_what_was_answered_survives_the_death_of_the_process(
    start_target: TargetStarter, seed: int, send: Send
) -> None:
    target = started(start_target, {"flushDiskType": "ASYNC_FLUSH"})
    survive(target, clause="STORE-FLUSH-002", seed=seed, send=send)


def wait_for_keys(broker: Client, topic: str, keys: set[str], clause: str) -> None:
    """Fail *clause* unless messages with all *keys* come to be in queue 0."""

    def missing() -> set[str]:
        return keys - {
            key_of(record)
            for queue_id in range(QUEUES)
            for record in pulled(broker, topic, queue_id)
        }

    try:
        what = "all messages are delivered"
        wait_until(lambda: not missing(), what=what, timeout_s=DELIVERY_TIMEOUT_S)
    finally:
        left = sorted(missing())[:5]
        expect(clause, found=left, expected=[], what=f"of {len(keys)} keys, missing")


@pytest.mark.clause("REC-CRASH-004")
def test_delayed_messages_arrive_after_a_kill(
    start_target: TargetStarter, seed: int
) -> None:
    target = started(start_target, {"messageDelayLevel": "1s 2s"})
    topic = create_topic(target, unique_name("delayed"), queue_count=QUEUES)
    chance = random.Random(seed)  # noqa: S311 - repeatable
    owed = killed_under_load(target, topic, chance, send_delayed)
    start_after_kill(target)
    with target.connect_to_broker() as broker:
        wait_for_keys(broker, topic, {one.key for one in owed}, "REC-CRASH-004")


@pytest.mark.clause("REC-CRASH-005", "REC-CRASH-006")
def test_transactions_survive_a_kill(start_target: TargetStarter, seed: int) -> None:
    target = started(start_target, {})
    topic = create_topic(target, unique_name("halves"), queue_count=QUEUES)
    chance = random.Random(seed)  # noqa: S311 - repeatable
    transactions = Transactions(unique_name("producers"))
    committed = killed_under_load(target, topic, chance, transactions.send)
    start_after_kill(target)
    with target.connect_to_broker() as broker:
        keys = {one.key for one in committed}
        wait_for_keys(broker, topic, keys, "REC-CRASH-006")
        for half in transactions.pending:
            require_success(end(broker, transactions.group, half))
        keys = {one.key for one in transactions.pending}
        wait_for_keys(broker, topic, keys, "REC-CRASH-005")

"""
Stores of two real brokers in controller mode, after a failover.

The slave misses the master's last messages and becomes the master. The old master cuts
these messages off its log. Their bytes stay in its files until others take their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from conformance.harness.client.client import Client, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.java.apache_conf import (
    CONTROLLER,
    CONTROLLER_MODE,
    SOON_ELECTED,
)
from conformance.harness.process.deadline import wait_until
from conformance.interop.stores.settings import PROMPT, SMALL_FILES
from conformance.interop.stores.traffic import PATIENCE_S, QUEUES, TOPIC
from conformance.interop.stores.undamaged_stores import copy_of
from spec.wire.remoting.response_code import ResponseCode

SETTINGS = {
    **SMALL_FILES,
    **PROMPT,
    "timerWheelEnable": "false",
    CONTROLLER_MODE: "true",
    "brokerId": "-1",
    **SOON_ELECTED,
    # A slave connects, and is counted, within a second or two.
    "haSendHeartbeatInterval": "500",
    "checkSyncStateSetPeriod": "500",
}
CUT_OFF = "cut off"
"""Name of the store that was stopped soon after messages were cut off its log."""
COUNT = 30
"""Messages that both brokers have before the failover."""
LOST = 20
"""Messages of the old master alone."""
FIRST = 2
"""Messages of the new master that the old one gets before its stop."""
LATER = 60
"""Messages after it, whose units take the places of all lost ones."""


def leave_failover(release: str, directory: Path) -> dict[str, Path]:
    """Let a slave become the master; return what is left of both."""
    with _pair(release, directory) as (master, slave):
        master.start()
        with Client.connect(master.broker) as broker:
            require_success(broker.create_topic(topic=TOPIC, queue_count=QUEUES))
        _send(master, "both", COUNT)
        slave.start()
        _wait_for(slave, COUNT)
        slave.kill()
        _send(master, "lost", LOST)
        _wait_for(master, COUNT + LOST)
        master.stop()
        slave.start()
        _send(slave, "new", FIRST)
        master.start()
        _wait_for(master, COUNT + FIRST)
        master.stop()
        cut = copy_of(master.store_path, directory / "cut")
        master.start()
        _send(slave, "later", LATER)
        _wait_for(master, COUNT + FIRST + LATER)
        master.stop()
        slave.stop()
        return {
            CUT_OFF: cut,
            "went on as slave": master.store_path,
            "new master": slave.store_path,
        }


@contextmanager
def _pair(
    release: str, directory: Path
) -> Iterator[tuple[ApacheCluster, ApacheCluster]]:
    """Lend two brokers that do not run yet, of a controller that does."""
    homes = [directory / name for name in ("controller", "master", "slave")]
    for home in homes:
        home.mkdir(parents=True)
    with ExitStack() as stack:
        controller = ApacheCluster(
            release, directory=homes[0], conf={CONTROLLER_MODE: "true"}
        )
        stack.callback(controller.close)
        controller.start(broker=False)
        master, slave = (
            ApacheCluster(
                release,
                directory=home,
                conf={**SETTINGS, CONTROLLER: str(controller.controller)},
                name_servers=[controller.namesrv],
            )
            for home in homes[1:]
        )
        stack.callback(master.close)
        stack.callback(slave.close)
        yield master, slave


def _send(member: ApacheCluster, name: str, count: int) -> None:
    """Send *count* messages, the first as soon as it is the master."""
    with Client.connect(member.broker) as broker:
        for number in range(count):
            key = f"{name}-{number}"

            def is_sent(number: int = number, key: str = key) -> bool:
                response = broker.send_message(
                    topic=TOPIC,
                    queue_id=number % QUEUES,
                    body=f"{key} ".encode() * 20,
                    properties={"KEYS": key, "UNIQ_KEY": f"U{key}"},
                )
                return response.code == ResponseCode.SUCCESS

            wait_until(is_sent, what=f"{key} is accepted", timeout_s=PATIENCE_S)


def _wait_for(member: ApacheCluster, count: int) -> None:
    """Wait until the queues of *member* have *count* messages."""

    def found() -> int:
        with Client.connect(member.broker) as broker:
            ends = [broker.max_offset(topic=TOPIC, queue_id=q) for q in range(QUEUES)]
            return sum(int(require_success(one).fields["offset"]) for one in ends)

    wait_until(lambda: found() == count, what=f"{count} messages", timeout_s=PATIENCE_S)

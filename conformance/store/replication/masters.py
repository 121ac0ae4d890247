"""
Masters of the scripted slaves: one of the suite's own, or that of a running cluster.

The own one has a commit log of two small files. The log of a running one is known only
from its last messages on, which the suite sends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.fixtures import another_target, need, unique_name
from conformance.harness.pytest_plugin.known_settings import configured
from conformance.harness.targets.target import Capability, Target
from spec.store.file_names import COMMIT_LOG
from spec.wire.message.message_id import decode_message_id

OWN_FILE_SIZE = 64 * 1024
PIECE_SIZE = 512
BODY_SIZE = 900
PACE = {
    "haTransferBatchSize": str(PIECE_SIZE),
    "haSendHeartbeatInterval": "300",
    "haHousekeepingInterval": "4000",
}
"""Settings that a running broker reads at each transfer."""
SETTINGS = {
    "mapedFileSizeCommitLog": str(OWN_FILE_SIZE),
    "maxMessageSize": str(16 * 1024),
    **PACE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Master:
    """A master, and offsets of its commit log that a slave may report."""

    target: Target
    early: int
    """Bytes behind it are `known`."""
    late: int
    """Some kilobytes before the end, in the last file."""
    file_size: int
    last: Mapping[int, bytes]
    """Records that the suite sent last, by offset, where it has no file of the log."""

    @property
    def last_file(self) -> int:
        """Offset of the last file of the commit log."""
        return self.late - self.late % self.file_size

    def known(self, end: int) -> Iterator[tuple[int, bytes]]:
        """Yield known bytes of the log from `early` to *end*, each with its offset."""
        if self.last:
            yield from self.last.items()
        else:
            assert self.target.store_path is not None
            folder = self.target.store_path / COMMIT_LOG
            log = b"".join(file.read_bytes() for file in sorted(folder.iterdir()))
            yield self.early, log[self.early : end]


def a_master(config: pytest.Config, target: Target) -> Iterator[Master]:
    """Yield a master of the suite's own, or the running cluster's."""
    if Capability.CONFIG in target.capabilities:
        need(target, Capability.REPLICATION, Capability.STORE)
        with another_target(config, SETTINGS) as own:
            with own.connect_to_broker() as broker:
                fill(broker)
            yield Master(
                target=own,
                early=1000,
                late=OWN_FILE_SIZE,
                file_size=OWN_FILE_SIZE,
                last={},
            )
    else:
        with configured(target, PACE):
            yield running_master(target)


def fill(broker: Client) -> None:
    """Send messages until the commit log is in its second file."""
    topic = unique_name("replicated")
    require_success(broker.create_topic(topic=topic, queue_count=1))
    end = 0
    while end < OWN_FILE_SIZE + 3 * PIECE_SIZE:
        # Stored is enough: tests below compare the states that depend on slaves.
        end = send(broker, topic)


def send(broker: Client, topic: str) -> int:
    """Send a message, and return its offset in the commit log."""
    response = broker.send_message(topic=topic, body=bytes(BODY_SIZE))
    return decode_message_id(response.fields["msgId"])[1]


def running_master(target: Target) -> Master:
    """Return the master of a running cluster, with some more messages."""
    topic = unique_name("replicated")
    with target.connect_for_admin() as broker:
        settings = broker.broker_settings()
        require_success(broker.create_topic(topic=topic, queue_count=1))
        offsets = [send(broker, topic) for _ in range(5)]
        views = [
            require_success(broker.view_message(commit_log_offset=at)) for at in offsets
        ]
    size = settings.get("mappedFileSizeCommitLog") or settings["mapedFileSizeCommitLog"]
    return Master(
        target=target,
        early=offsets[0],
        late=offsets[1],
        file_size=int(size),
        last={o: require_success(v).body for o, v in zip(offsets, views, strict=True)},
    )

"""
Master and slave, each the reference or a real broker, at their own name server.

`Member` is one of the two, started from settings alone, as an operator does. A slave
has its role and its id, and gets the master's address from the name server. Their logs,
queues and tables must be equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.process.deadline import wait_until
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.replication.mixed_clusters import OURS
from spec.store.file_names import COMMIT_LOG
from spec.store.message_record import Record, decode_record, decode_records, record_size
from spec.wire.remoting.response_code import ResponseCode

BROKER_NAME = "broker-pair"
LOG_FILE_SIZE = 64 * 1024
SETTINGS: Mapping[str, str] = {
    "brokerName": BROKER_NAME,
    "brokerClusterName": "PairCluster",
    "mapedFileSizeCommitLog": str(LOG_FILE_SIZE),
    "mapedFileSizeConsumeQueue": str(20 * 100),
    "maxMessageSize": str(32 * 1024),
    "haSendHeartbeatInterval": "500",
    "registerNameServerPeriod": "10000",
}
SLAVE_SETTINGS: Mapping[str, str] = {"brokerRole": "SLAVE", "brokerId": "1"}
QUEUES = range(2)
SOON_S = 45.0
"""A slave synchronizes tables every ten seconds and reconnects every five."""


class Member:
    """A broker of a pair: ours, or one of a real release."""

    def __init__(
        self,
        make: str,
        name_servers: Sequence[Address],
        directory: Path,
        conf: Mapping[str, str],
    ) -> None:
        settings = {**SETTINGS, **conf}
        self.store_path = directory / "store"
        self._broker: Target | ApacheCluster
        if make == OURS:
            settings["namesrvAddr"] = ";".join(map(str, name_servers))
            store = self.store_path
            self._broker = parse_target("embedded:", conf=settings, store=store)
        else:
            directory.mkdir(parents=True)
            self._broker = ApacheCluster(
                make, directory=directory, conf=settings, name_servers=name_servers
            )

    def start(self) -> None:
        """Serve; return when it does."""
        self._broker.start()

    def stop(self) -> None:
        """End in order."""
        self._broker.stop()

    def kill(self) -> None:
        """Kill the process."""
        self._broker.kill()

    def close(self) -> None:
        """Kill the process and release all resources."""
        self._broker.close()

    @property
    def address(self) -> Address:
        """Address of its socket, once it has started."""
        assert self._broker.broker is not None
        return self._broker.broker

    def client(self) -> Client:
        """Return a fresh connection to it."""
        return Client.connect(self.address)

    def log(self) -> tuple[int, bytes]:
        """Return the start offset of its commit log, and the bytes of all its files."""
        files = sorted((self.store_path / COMMIT_LOG).iterdir())
        assert files, f"{self.store_path} has no commit log"
        return int(files[0].name), b"".join(file.read_bytes() for file in files)


def send_some(master: Member, topic: str, *, first: int, count: int) -> int:
    """Send so many messages to both queues of *topic*; return the log's end then."""
    end = 0
    with master.client() as broker:
        for number in range(first, first + count):
            response = require_success(
                broker.send_message(
                    topic=topic,
                    queue_id=number % len(QUEUES),
                    body=f"message {number} ".encode() * (number % 60 + 20),
                    properties={"KEYS": f"key-{number}", "TAGS": f"Tag{number % 3}"},
                )
            )
            id_of = response.fields["msgId"]
            viewed = require_success(broker.view_message_by_id(id_of))
            record = decode_record(viewed.body)
            end = record.physical_offset + record_size(record)
    return end


def wait_until_same(master: Member, slave: Member, topic: str) -> None:
    """Wait until the slave's queues of *topic* go as far as the master's."""
    with master.client() as ours, slave.client() as theirs:
        for queue_id in QUEUES:
            wanted = end_of(ours, topic, queue_id)
            wait_until(
                partial(_has_end, theirs, topic, queue_id, wanted),
                what=f"the slave's queue {queue_id} of {topic} goes up to {wanted}",
                timeout_s=SOON_S,
            )


def _has_end(broker: Client, topic: str, queue_id: int, wanted: int) -> bool:
    return end_of(broker, topic, queue_id) == wanted


def end_of(broker: Client, topic: str, queue_id: int) -> int:
    """Return the offset behind the last message of a queue; -1 while it is unknown."""
    response = broker.max_offset(topic=topic, queue_id=queue_id)
    return int(response.fields.get("offset", -1)) if response.code == 0 else -1


def wait_for_topic(slave: Member, topic: str) -> None:
    """Wait until the slave has received *topic* from its master."""
    with slave.client() as broker:
        wait_until(
            lambda: (
                f'"{topic}"'.encode() in require_success(broker.all_topic_config()).body
            ),
            what=f"the slave has {topic}",
            timeout_s=SOON_S,
        )


def pull_all(
    broker: Client, topic: str, queue_id: int, *, group: str, first: int
) -> Iterator[Record]:
    """Yield the messages of a queue from *first* to its end."""
    for response in broker.pull_to_end(
        topic=topic, queue_id=queue_id, offset=first, group=group
    ):
        ended = response.code == ResponseCode.PULL_NOT_FOUND
        assert ended or response.code == ResponseCode.SUCCESS, response
        yield from decode_records(response.body)

"""Checks that a master and its slave have the same content."""

from __future__ import annotations

from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.process.deadline import wait_until
from conformance.interop.replication.replication import (
    QUEUES,
    SOON_S,
    Member,
    pull_all,
    wait_for_topic,
    wait_until_same,
)
from spec.wire.remoting.response_code import ResponseCode

GROUP = "pair_group"


def check_same(master: Member, slave: Member, topic: str, *, end: int) -> None:
    """Wait until the slave has the log up to *end*; then compare log and queues."""
    wait_for_topic(slave, topic)
    wait_until_same(master, slave, topic)
    begin = check_logs(master, slave, end=end)
    assert begin == 0, f"the slave's log begins at {begin}"
    check_messages(master, slave, topic, first=0)


def check_logs(master: Member, slave: Member, *, end: int) -> int:
    """Compare both logs up to *end*, byte by byte; return where the slave's begins."""
    (begin, original), (copy_begin, copy) = master.log(), slave.log()
    assert begin == 0, f"the master's log begins at {begin}"
    assert copy[: end - copy_begin] == original[copy_begin:end], (
        f"the logs differ between {copy_begin} and {end}"
    )
    return copy_begin


def check_messages(master: Member, slave: Member, topic: str, *, first: int) -> None:
    """Pull all messages from both, and query both for each message by key."""
    with master.client() as ours, slave.client() as theirs:
        for queue_id in QUEUES:
            records = [
                list(pull_all(one, topic, queue_id, group=GROUP, first=first))
                for one in (ours, theirs)
            ]
            assert records[0]
            assert records[1] == records[0]
        key = f"key-{2 * first}"
        responses = [
            require_success(one.query_message(topic=topic, key=key))
            for one in (ours, theirs)
        ]
        assert responses[0].body
        assert responses[1].body == responses[0].body


def check_tables(master: Member, slave: Member, topic: str) -> None:
    """Commit an offset and create a group at the master; the slave must learn both."""
    with master.client() as ours, slave.client() as theirs:
        require_success(ours.update_group(group="pair_second_group"))
        require_success(
            ours.update_offset(group=GROUP, topic=topic, queue_id=1, offset=7)
        )
        wait_until(
            lambda: committed(theirs, topic, 1) == 7,
            what="the slave has the offset that was committed at its master",
            timeout_s=SOON_S,
        )
        wait_until(
            lambda: tables_of(theirs) == tables_of(ours),
            what="the slave has the tables of its master",
            timeout_s=SOON_S,
        )


def committed(broker: Client, topic: str, queue_id: int) -> int:
    """Return the group's committed offset in a queue; -1 for none."""
    response = broker.query_offset(group=GROUP, topic=topic, queue_id=queue_id)
    return int(response.fields.get("offset", -1))


def tables_of(broker: Client) -> list[object]:
    """Return topics, groups and delay offsets of a broker."""
    responses = (
        broker.all_topic_config(),
        broker.all_groups(),
        broker.all_delay_offsets(),
    )
    return [body_of(require_success(response)) for response in responses]


def check_refusal(slave: Member, topic: str) -> None:
    """Check that the slave rejects a message, and corrects no offset."""
    with slave.client() as broker:
        refused = broker.send_message(topic=topic, body=b"mine").code
        assert refused == ResponseCode.SERVICE_NOT_AVAILABLE
        response = broker.pull(topic=topic, queue_id=0, offset=10_000, group=GROUP)
        assert response.code == ResponseCode.PULL_RETRY_IMMEDIATELY
        assert response.fields["nextBeginOffset"] == "10000"

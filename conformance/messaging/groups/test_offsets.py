"""Offsets: the bounds of a queue, and the committed offsets of a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import create_group, create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import records_of, send_bodies
from conformance.strategies.boundaries import OVER_THE_WIRE
from spec.wire.consumer.pull import PullFlag
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

offsets = st.one_of(
    st.sampled_from([0, 1, 2**31 - 1, 2**31, 2**63 - 1]), st.integers(0, 9)
)
COMMIT = int(PullFlag.COMMIT_OFFSET | PullFlag.SUBSCRIPTION)


def offset_in(response: Command) -> int:
    """Return the offset that *response*, a success, names."""
    return int(require_success(response).fields["offset"])


@pytest.mark.clause("OFFSET-COMMIT-001", "OFFSET-COMMIT-004")
@OVER_THE_WIRE
@given(committed=st.lists(offsets, min_size=1, max_size=5))
def test_the_last_committed_offset_counts(
    broker: Client, topic: str, known_group: str, committed: list[int]
) -> None:
    # The group has the offset of the example before.
    earlier = broker.query_offset(group=known_group, topic=topic)
    is_lower = not earlier.code and committed[0] < offset_in(earlier)
    # The queue is empty, so that any first offset is past its end.
    clause = "OFFSET-COMMIT-001" if is_lower else "OFFSET-COMMIT-004"
    for offset in committed:
        require_success(
            broker.update_offset(group=known_group, topic=topic, offset=offset)
        )
        expect(
            clause,
            found=offset_in(broker.query_offset(group=known_group, topic=topic)),
            expected=offset,
            what="offset",
            transcript=broker.transcript,
        )
        clause = "OFFSET-COMMIT-001"


@pytest.mark.clause("OFFSET-COMMIT-002")
def test_offsets_of_groups_topics_and_queues_are_apart(
    target: Target, broker: Client, unique: Callable[[str], str]
) -> None:
    groups, topics = [unique("g"), unique("g")], [unique("t"), unique("t")]
    for group, topic in zip(groups, topics, strict=True):
        create_group(target, group)
        create_topic(target, topic)
    places = [(g, t, q) for g in groups for t in topics for q in (0, 1)]
    for offset, (group, topic, queue_id) in enumerate(places):
        require_success(
            broker.update_offset(
                group=group, topic=topic, queue_id=queue_id, offset=offset
            )
        )
    found = [
        offset_in(broker.query_offset(group=g, topic=t, queue_id=q))
        for g, t, q in places
    ]
    expected = list(range(len(places)))
    expect(
        "OFFSET-COMMIT-002",
        found=found,
        expected=expected,
        what="offsets",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-COMMIT-003")
def test_an_offset_may_be_committed_oneway(
    broker: Client, topic: str, known_group: str
) -> None:
    broker.update_offset(group=known_group, topic=topic, offset=5, oneway=True)
    silent = broker.peer.is_silent(0.2)
    expect(
        "OFFSET-COMMIT-003",
        found=silent,
        expected=True,
        what="silence",
        transcript=broker.transcript,
    )
    found = offset_in(broker.query_offset(group=known_group, topic=topic))
    expect(
        "OFFSET-COMMIT-003",
        found=found,
        expected=5,
        what="offset",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-COMMIT-005")
def test_an_offset_of_an_unknown_topic_is_kept(
    broker: Client, known_group: str, unique: Callable[[str], str]
) -> None:
    topic = unique("nowhere")
    require_success(broker.update_offset(group=known_group, topic=topic, offset=5))
    found = offset_in(broker.query_offset(group=known_group, topic=topic))
    expect(
        "OFFSET-COMMIT-005",
        found=found,
        expected=5,
        what="offset",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-COMMIT-006")
def test_an_offset_of_an_unknown_topic_is_refused(
    broker: Client, known_group: str, unique: Callable[[str], str]
) -> None:
    response = broker.update_offset(group=known_group, topic=unique("t"), offset=5)
    expected = ResponseCode.TOPIC_NOT_EXIST
    expect(
        "OFFSET-COMMIT-006",
        found=response.code,
        expected=expected,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-COMMIT-007")
def test_an_offset_of_an_unknown_group_is_refused(
    broker: Client, group: str, topic: str
) -> None:
    response = broker.update_offset(group=group, topic=topic, offset=5)
    expected = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    expect(
        "OFFSET-COMMIT-007",
        found=response.code,
        expected=expected,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-QUERY-001")
def test_a_new_group_begins_at_the_beginning(
    broker: Client, topic: str, known_group: str
) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    found = offset_in(broker.query_offset(group=known_group, topic=topic))
    expect(
        "OFFSET-QUERY-001",
        found=found,
        expected=0,
        what="offset",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-QUERY-002")
def test_a_new_group_begins_at_0_where_nothing_is(
    broker: Client, topic: str, known_group: str
) -> None:
    found = offset_in(broker.query_offset(group=known_group, topic=topic, queue_id=3))
    expect(
        "OFFSET-QUERY-002",
        found=found,
        expected=0,
        what="offset",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-QUERY-003")
def test_a_new_group_has_no_offset_where_nothing_is(
    broker: Client, topic: str, known_group: str
) -> None:
    response = broker.query_offset(group=known_group, topic=topic, queue_id=3)
    expected = ResponseCode.QUERY_NOT_FOUND
    expect(
        "OFFSET-QUERY-003",
        found=response.code,
        expected=expected,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-QUERY-006")
def test_a_query_may_do_without_the_offset_0(
    broker: Client, topic: str, known_group: str
) -> None:
    send_bodies(broker, topic, [b"a"])

    def code() -> int:
        return broker.query_offset(
            group=known_group, topic=topic, set_zero_if_not_found=False
        ).code

    before = code()
    require_success(broker.update_offset(group=known_group, topic=topic, offset=1))
    expect(
        "OFFSET-QUERY-006",
        found=(before, code()),
        expected=(ResponseCode.QUERY_NOT_FOUND, ResponseCode.SUCCESS),
        what="codes before and after a commit",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-MAX-001", "OFFSET-MIN-001", "OFFSET-TIME-001")
def test_a_queue_knows_its_ends(broker: Client, topic: str) -> None:
    for count in (1, 2, 3):
        require_success(broker.send_message(topic=topic, queue_id=2))
        broker.wait_for_max_offset(topic=topic, queue_id=2, offset=count)
        found = offset_in(broker.max_offset(topic=topic, queue_id=2))
        expect(
            "OFFSET-MAX-001",
            found=found,
            expected=count,
            what="offset",
            transcript=broker.transcript,
        )
        found = offset_in(broker.min_offset(topic=topic, queue_id=2))
        expect(
            "OFFSET-MIN-001",
            found=found,
            expected=0,
            what="offset",
            transcript=broker.transcript,
        )
    first = records_of(broker.pull(topic=topic, queue_id=2, offset=0))[0]
    response = require_success(broker.earliest_store_time(topic=topic, queue_id=2))
    found = int(response.fields["timestamp"])
    expect(
        "OFFSET-TIME-001",
        found=found,
        expected=first.stored_at_ms,
        what="timestamp",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-MAX-002", "OFFSET-TIME-001", "OFFSET-SEARCH-007")
def test_a_queue_that_was_never_used_is_empty(
    broker: Client, topic: str, unique: Callable[[str], str]
) -> None:
    # A peer that misreads the queue of a request returns the values of this one.
    send_bodies(broker, topic, [b"used"])
    require_success(broker.earliest_store_time(topic=topic))
    for name, queue_id in ((topic, 1), (topic, 99), (unique("nowhere"), 0)):
        where: dict[str, Any] = {"topic": name, "queue_id": queue_id}
        found = [
            offset_in(broker.max_offset(**where)),
            offset_in(broker.min_offset(**where)),
        ]
        expect(
            "OFFSET-MAX-002",
            found=found,
            expected=[0, 0],
            what="max and min",
            transcript=broker.transcript,
        )
        earliest = require_success(broker.earliest_store_time(**where)).fields[
            "timestamp"
        ]
        expect(
            "OFFSET-TIME-001",
            found=earliest,
            expected="-1",
            what="timestamp",
            transcript=broker.transcript,
        )
        searched = offset_in(broker.search_offset(**where, timestamp_ms=1))
        expect(
            "OFFSET-SEARCH-007",
            found=searched,
            expected=0,
            what="offset",
            transcript=broker.transcript,
        )


@pytest.mark.clause("PULL-COMMIT-001")
def test_a_pull_commits_where_it_says_so(
    broker: Client, topic: str, known_group: str
) -> None:
    send_bodies(broker, topic, [b"a", b"b"])
    broker.pull(topic=topic, offset=0, group=f"{known_group}_other")
    # Growing offsets: a smaller one is the subject of OFFSET-COMMIT-004.
    for pulled_at, offset in ((0, 0), (2, 3), (50, 7)):
        broker.pull(
            topic=topic,
            offset=pulled_at,
            group=known_group,
            system_flags=COMMIT,
            commit_offset=offset,
        )
        found = offset_in(broker.query_offset(group=known_group, topic=topic))
        expect(
            "PULL-COMMIT-001",
            found=found,
            expected=offset,
            what="committed offset",
            transcript=broker.transcript,
        )


@pytest.mark.clause("PULL-COMMIT-002")
def test_a_pull_commits_nothing_where_it_does_not_say_so(
    broker: Client, topic: str, known_group: str
) -> None:
    send_bodies(broker, topic, [b"a", b"b"])
    require_success(broker.update_offset(group=known_group, topic=topic, offset=1))
    for pulled_at in (0, 2, 50):
        broker.pull(topic=topic, offset=pulled_at, group=known_group, commit_offset=2)
    found = offset_in(broker.query_offset(group=known_group, topic=topic))
    expect(
        "PULL-COMMIT-002",
        found=found,
        expected=1,
        what="committed offset",
        transcript=broker.transcript,
    )

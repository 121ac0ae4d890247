"""Queries: by id in the commit log, by key and unique key in the index."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import (
    Client,
    require_success,
)
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_in_time,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import TargetStarter, create_topic
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.stored_messages import offset_of, query_by_key, record_of
from conformance.strategies.boundaries import ON_A_TOPIC_EACH, texts
from conformance.strategies.messages import SEPARATORS
from spec.store.message_record import decode_record, decode_records
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

SECOND_MS, HOUR_MS = 1000, 3_600_000
SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0"
keys = texts(without=SEPARATORS + SPACES).filter(lambda key: key == key.strip())


def send_with_keys(
    broker: Client, topic: str, keys_of_each: list[str]
) -> list[Command]:
    """Send a message for each text of keys, its body its number; return responses."""
    return [
        require_success(
            broker.send_message(
                topic=topic,
                body=b"%d" % number,
                properties={"KEYS": text} if text else {},
            )
        )
        for number, text in enumerate(keys_of_each)
    ]


def found_by(broker: Client, topic: str, key: str, **how: Any) -> list[bytes]:
    """Return the bodies that a query by *key* gives now."""
    response = query_by_key(broker, topic, key, **how)
    if response.code == ResponseCode.QUERY_NOT_FOUND:
        return []
    return [record.body for record in decode_records(require_success(response).body)]


def wait_for(broker: Client, topic: str, key: str, count: int, **how: Any) -> None:
    """Wait until the index, which is filled behind, gives *count* messages of *key*."""
    wait_until(
        lambda: len(found_by(broker, topic, key, **how)) >= count,
        what=f"the index gives {count} messages of {key!r}",
    )


@pytest.mark.clause("QUERY-ID-001")
def test_a_message_is_found_by_its_id(broker: Client, topic: str) -> None:
    for number, response in enumerate(send_with_keys(broker, topic, ["", "a", "b c"])):
        record = record_of(broker, response)
        found = (record.physical_offset, record.body)
        expected = (offset_of(response), b"%d" % number)
        expect(
            "QUERY-ID-001",
            found=found,
            expected=expected,
            what="place and body",
            transcript=broker.transcript,
        )


@pytest.mark.clause("QUERY-ID-002")
@pytest.mark.parametrize("offset", [-1, 2**40, 2**63 - 1, -(2**63)])
def test_there_is_no_message_outside_the_log(broker: Client, offset: int) -> None:
    expect(
        "QUERY-ID-002",
        found=broker.view_message(commit_log_offset=offset).code,
        expected=ResponseCode.SYSTEM_ERROR,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("QUERY-KEY-001", "WIRE-PROPERTIES-009")
@ON_A_TOPIC_EACH
@given(own=st.lists(keys, min_size=1, max_size=4, unique=True))
def test_a_message_is_found_by_each_of_its_keys(
    target: Target, broker: Client, unique: Callable[[str], str], own: list[str]
) -> None:
    topic = unique("keys")
    create_topic(target, topic)
    # One message before it: an offset of zero would equal an empty one.
    response = send_with_keys(broker, topic, ["", " ".join(own)])[1]
    for key in own:
        wait_for(broker, topic, key, 1)
        records = decode_records(query_by_key(broker, topic, key).body)
        found = {record.physical_offset for record in records}
        expect(
            "WIRE-PROPERTIES-009" if len(own) > 1 else "QUERY-KEY-001",
            found=found,
            expected={offset_of(response)},
            what=f"places of the messages found by {key!r} of {own}",
            transcript=broker.transcript,
        )
        expect(
            "QUERY-KEY-001",
            found=query_by_key(broker, topic, key).body,
            expected=require_success(broker.view_stored(response.fields["msgId"])).body,
            what=f"record found by {key!r}, and by its id",
            transcript=broker.transcript,
        )


@pytest.mark.clause("QUERY-KEY-002", "QUERY-KEY-003")
def test_a_key_of_many_gives_the_newest_in_order(broker: Client, topic: str) -> None:
    send_with_keys(broker, topic, [f"k{n} all" for n in range(6)])
    wait_for(broker, topic, "all", 6)
    found = found_by(broker, topic, "all")
    expected = [b"%d" % number for number in range(6)]
    expect(
        "QUERY-KEY-002",
        found=found,
        expected=expected,
        what="bodies",
        transcript=broker.transcript,
    )
    for count in (1, 2, 5):
        found = found_by(broker, topic, "all", max_count=count)
        expect(
            "QUERY-KEY-003",
            found=sorted(found),
            expected=expected[-count:],
            what="bodies, sorted by their number",
            transcript=broker.transcript,
        )


@pytest.mark.clause("QUERY-KEY-004", "QUERY-KEY-005")
def test_a_key_of_no_message_finds_nothing(
    target: Target, broker: Client, topic: str, unique: Callable[[str], str]
) -> None:
    other = unique("other")
    create_topic(target, other)
    send_with_keys(broker, other, ["shared"])
    send_with_keys(broker, topic, ["own"])
    wait_for(broker, other, "shared", 1)
    wait_for(broker, topic, "own", 1)
    for clause, key in (("QUERY-KEY-004", "none"), ("QUERY-KEY-005", "shared")):
        expect(
            clause,
            found=query_by_key(broker, topic, key).code,
            expected=ResponseCode.QUERY_NOT_FOUND,
            what=f"code for the key {key!r}",
            transcript=broker.transcript,
        )


@pytest.mark.clause("QUERY-KEY-012")
def test_a_query_for_a_negative_count_fails(broker: Client, topic: str) -> None:
    response = broker.query_message(topic=topic, key="k", max_count=-1)
    code = ResponseCode.SYSTEM_ERROR
    expect_code("QUERY-KEY-012", response, code, broker.transcript)


@pytest.mark.clause("QUERY-KEY-006")
def test_a_time_without_messages_gives_none(broker: Client, topic: str) -> None:
    sent = send_with_keys(broker, topic, ["k"])[0]
    wait_for(broker, topic, "k", 1)
    stored_ms = record_of(broker, sent).stored_at_ms
    begin_ms, end_ms = stored_ms - HOUR_MS, stored_ms + HOUR_MS
    found = found_by(broker, topic, "k", begin_ms=begin_ms, end_ms=end_ms)
    expect(
        "QUERY-KEY-006",
        found=found,
        expected=[b"0"],
        what="bodies around the message's store time",
        transcript=broker.transcript,
    )
    begin_ms, end_ms = end_ms, end_ms + HOUR_MS
    later = query_by_key(broker, topic, "k", begin_ms=begin_ms, end_ms=end_ms)
    expect_code("QUERY-KEY-006", later, ResponseCode.QUERY_NOT_FOUND, broker.transcript)


@pytest.mark.clause("QUERY-KEY-006")
def test_a_time_between_messages_gives_none(broker: Client, topic: str) -> None:
    first = record_of(broker, send_with_keys(broker, topic, ["k"])[0]).stored_at_ms
    # The index counts seconds: its times may be nearly one too early.
    begin_ms, end_ms = first + 200, first + 1200

    def is_later() -> bool:
        response = send_with_keys(broker, topic, ["l"])[0]
        return record_of(broker, response).stored_at_ms > end_ms + 1000

    wait_until(is_later, what="a message is stored two seconds after the first")
    wait_for(broker, topic, "l", 1)
    found = found_by(broker, topic, "k", begin_ms=begin_ms, end_ms=end_ms)
    expect(
        "QUERY-KEY-006",
        found=found,
        expected=[],
        what="bodies between the two",
        transcript=broker.transcript,
    )


@pytest.mark.clause("QUERY-KEY-011")
def test_both_bounds_of_a_time_belong_to_it(broker: Client, topic: str) -> None:
    stored = record_of(broker, send_with_keys(broker, topic, ["k"])[0]).stored_at_ms
    wait_for(broker, topic, "k", 1)
    # The index counts seconds: the time in it is up to 999 ms before the store time.
    times = range(stored - SECOND_MS, stored + 1)

    def is_early_enough(begin_ms: int) -> bool:
        return found_by(broker, topic, "k", begin_ms=begin_ms) == [b"0"]

    def is_late_enough(end_ms: int) -> bool:
        return found_by(broker, topic, "k", end_ms=end_ms) == [b"0"]

    too_late = bisect(times, False, key=lambda ms: not is_early_enough(ms))
    late_enough = bisect(times, False, key=is_late_enough)
    expect(
        "QUERY-KEY-011",
        found=times.start + too_late - 1,
        expected=times.start + late_enough,
        what="latest begin and earliest end of a time that has the message",
        transcript=broker.transcript,
    )


@pytest.mark.clause("QUERY-KEY-007")
def test_keys_with_one_hash_are_not_told_apart(broker: Client, topic: str) -> None:
    send_with_keys(broker, topic, ["Aa", "BB", "Cc"])
    wait_for(broker, topic, "Aa", 2)
    found = [found_by(broker, topic, key) for key in ("Aa", "BB")]
    expect(
        "QUERY-KEY-007",
        found=found,
        expected=[[b"0", b"1"]] * 2,
        what="bodies",
        transcript=broker.transcript,
    )


@pytest.mark.clause("QUERY-KEY-008")
def test_a_key_given_twice_gives_the_message_twice(broker: Client, topic: str) -> None:
    send_with_keys(broker, topic, ["k k"])
    wait_for(broker, topic, "k", 1)
    expect_in_time(
        "QUERY-KEY-008",
        lambda: found_by(broker, topic, "k"),
        expected=[b"0", b"0"],
        what="bodies",
        transcript=broker.transcript,
    )


@pytest.mark.clause("QUERY-KEY-009")
@pytest.mark.settings(maxMsgsNumBatch="64")
def test_a_key_of_very_many_gives_the_newest_64(
    broker: Client, topic: str, target: SharedTarget
) -> None:
    most = int(target.conf.get("maxMsgsNumBatch", "64"))
    send_with_keys(broker, topic, ["same"] * (most + 2))
    last = b"%d" % (most + 1)

    def is_indexed() -> bool:
        return found_by(broker, topic, "same", max_count=1) == [last]

    wait_until(is_indexed, what="the last message is in the index")
    found = found_by(broker, topic, "same", max_count=most + 100)
    expect(
        "QUERY-KEY-009",
        found=sorted(map(int, found)),
        expected=list(range(2, most + 2)),
        what="bodies, sorted by their number",
        transcript=broker.transcript,
    )


@pytest.mark.clause("QUERY-KEY-010")
@pytest.mark.needs(Capability.CONFIG)
def test_without_an_index_no_key_is_found(
    start_target: TargetStarter, unique: Callable[[str], str]
) -> None:
    topic = unique("topic")
    with start_target({"messageIndexEnable": "false"}).connect_to_broker() as broker:
        require_success(broker.create_topic(topic=topic))
        response = send_with_keys(broker, topic, ["k"])[0]
        broker.wait_for_max_offset(topic=topic, offset=1)
        found = (record_of(broker, response).body, found_by(broker, topic, "k"))
    expect(
        "QUERY-KEY-010",
        found=found,
        expected=(b"0", []),
        what="body found by place, bodies found by key",
        transcript=broker.transcript,
    )


@pytest.mark.clause("QUERY-UNIQUE-001", "QUERY-UNIQUE-002")
def test_a_message_is_found_by_its_unique_key(
    broker: Client, topic: str, unique: Callable[[str], str]
) -> None:
    key = unique("UNIQUE").upper()
    bodies = [b"one", b"two"]
    for body in bodies:
        require_success(
            broker.send_message(topic=topic, body=body, properties={"UNIQ_KEY": key})
        )
    wait_for(broker, topic, key, len(bodies), unique=True)
    for count in (32, 1, 0, -1):
        found = found_by(broker, topic, key, unique=True, max_count=count)
        clause = "QUERY-UNIQUE-002" if count < len(bodies) else "QUERY-UNIQUE-001"
        expect(
            clause,
            found=sorted(found),
            expected=bodies,
            what=f"bodies, at most {count}",
            transcript=broker.transcript,
        )


@pytest.mark.clause("QUERY-RESPONSE-001")
def test_a_response_says_how_far_the_index_is(broker: Client, topic: str) -> None:
    for key in ("first", "second"):
        sent = record_of(broker, send_with_keys(broker, topic, [key])[0])
        wait_for(broker, topic, key, 1)
        fields = query_by_key(broker, topic, key).fields
        offset = int(fields["indexLastUpdatePhyoffset"])
        viewed = require_success(broker.view_message(commit_log_offset=offset))
        newest = decode_record(viewed.body, check_crc=False)
        expect(
            "QUERY-RESPONSE-001",
            found=fields["indexLastUpdateTimestamp"],
            expected=str(newest.stored_at_ms),
            what=f"store time of the newest record in the index, at {offset}",
            transcript=broker.transcript,
        )
        expect_that(
            "QUERY-RESPONSE-001",
            offset >= sent.physical_offset,
            found=offset,
            expected=f"{sent.physical_offset}, or later",
            what="offset of the newest record in the index",
            transcript=broker.transcript,
        )

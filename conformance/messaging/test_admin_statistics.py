"""Administration: traffic, how far groups are behind, and setting things right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from conformance.harness.asks.asker import FieldValue
from conformance.harness.deadline import wait_until
from conformance.harness.fixtures import OPTIONS, create_topic, hastened, unique_name
from conformance.harness.peer import NoAnswerError
from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.target import Capability, Target
from conformance.harness.verdicts import expect, expect_code, expect_that
from conformance.messaging.half import send_half
from conformance.messaging.reading import (
    record_of,
    records_from,
    records_of,
    send_bodies,
)
from spec.routing.route_data import decode_route
from spec.store.message_record import record_size
from spec.wire.admin_bodies import ConsumeTimes, CorrectedOffsets, GroupsStats, Rates
from spec.wire.admin_statistics import SAMPLE_S
from spec.wire.command import Command
from spec.wire.json_body import decode_body
from spec.wire.properties import decode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.transactions import HALF_TOPIC

HASTE = 20.0
SAMPLES_S = 3 * SAMPLE_S
"""Two samples, and one more for a busy machine."""


@pytest.fixture(scope="module")
def counting(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield a target whose samples we can await: its clock runs faster if it can."""
    if Capability.CLOCK not in target.capabilities:
        yield target
        return
    with hastened(pytestconfig.stash[OPTIONS], HASTE) as own:
        yield own


def rates(broker: Speaker, name: str, key: str) -> Rates | None:
    """Return what was counted; None while nothing was."""
    fields = {"statsName": name, "statsKey": key}
    answer = broker.ask(RequestCode.VIEW_BROKER_STATS_DATA, fields)
    if answer.code == ResponseCode.SYSTEM_ERROR:
        return None
    return decode_body(Rates, succeeded(answer).body)


@pytest.mark.clause("ADMIN-STATS-005")
@pytest.mark.needs("wire")
def test_traffic_is_counted_by_topic_and_group(counting: Target) -> None:
    topic = create_topic(counting, unique_name("counted"))
    with counting.speak_to_broker() as broker:
        answer = broker.send_message(topic=topic, body=b"1234")
        size = record_size(record_of(broker, answer))

        def is_sampled() -> bool:
            succeeded(broker.send_message(topic=topic, body=b"1234"))
            broker.pull(topic=topic, offset=0, group="counted_group", max_count=1)
            found = rates(broker, "GROUP_GET_NUMS", f"{topic}@counted_group")
            return bool(found and found.minute and found.minute.sum)

        wait_until(is_sampled, what="traffic was sampled twice", timeout_s=SAMPLES_S)
        means = {"TOPIC_PUT_NUMS": 1, "TOPIC_PUT_SIZE": size}
        for name, mean in means.items():
            found = rates(broker, name, topic)
            minute = found.minute if found else None
            expect_that(
                "ADMIN-STATS-005",
                minute is not None and minute.mean == mean and minute.tps > 0,
                found=minute,
                expected=f"a mean of {mean} and a rate over 0",
                what=f"{name} of the last minute",
                transcript=broker.transcript,
            )


@pytest.mark.clause("ADMIN-STATS-006")
@pytest.mark.parametrize("name", ["TOPIC_PUT_NUMS", "NO_SUCH_NUMS"])
def test_what_was_not_counted_is_refused(
    broker: Speaker, topic: str, name: str
) -> None:
    fields = {"statsName": name, "statsKey": topic}
    answer = broker.ask(RequestCode.VIEW_BROKER_STATS_DATA, fields)
    code = ResponseCode.SYSTEM_ERROR
    expect_code("ADMIN-STATS-006", answer, code, broker.transcript)


@pytest.mark.clause("ADMIN-STATS-007")
def test_time_spans_tell_how_far_a_group_is(
    broker: Speaker, topic: str, known_group: str
) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    stored = [
        one.stored_at_ms for one in records_of(broker.pull(topic=topic, offset=0))
    ]
    succeeded(broker.update_offset(group=known_group, topic=topic, offset=2))
    answer = time_spans(broker, topic, known_group)
    spans = decode_body(ConsumeTimes, succeeded(answer).body).queues
    found = {one.queue.queue_id: one for one in spans}
    expect("ADMIN-STATS-007", found=sorted(found), expected=[0, 1, 2, 3], what="queues")
    first = found[0]
    expect(
        "ADMIN-STATS-007",
        found=(
            first.first_stored_at_ms,
            first.last_stored_at_ms,
            first.consumed_at_ms,
        ),
        expected=(stored[0], stored[2], stored[1]),
        what="store times of the first, the last and the last consumed message",
        transcript=broker.transcript,
    )
    expect_that(
        "ADMIN-STATS-007",
        first.delay_ms >= 0,
        found=first.delay_ms,
        expected="0 or more",
        what="milliseconds that the next message waits",
    )


@pytest.mark.clause("ADMIN-STATS-008")
def test_an_unknown_topic_has_no_time_spans(broker: Speaker, known_group: str) -> None:
    answer = time_spans(broker, unique_name("nowhere"), known_group)
    code = ResponseCode.TOPIC_NOT_EXIST
    expect_code("ADMIN-STATS-008", answer, code, broker.transcript)


def time_spans(broker: Speaker, topic: str, group: str) -> Command:
    """Ask how far a group is in a topic, in time."""
    fields = {"topic": topic, "group": group}
    return broker.ask(RequestCode.QUERY_CONSUME_TIME_SPAN, fields)


@pytest.mark.clause("ADMIN-STATS-009")
def test_every_groups_progress_is_told(
    broker: Speaker, topic: str, known_group: str
) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    succeeded(broker.update_offset(group=known_group, topic=topic, offset=2))
    answer = broker.ask(RequestCode.GET_BROKER_CONSUME_STATS, {"isOrder": False})
    told = decode_body(GroupsStats, succeeded(answer).body)
    ours = [row[known_group] for row in told.groups if known_group in row]
    expect(
        "ADMIN-STATS-009",
        found=[
            (queue.queue_id, at.broker_offset, at.consumer_offset)
            for stats in ours
            for one in stats
            for queue, at in one.queues.items()
            if at.broker_offset
        ],
        expected=[(0, 3, 2)],
        what="queue, end and committed offset where there are messages",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-CORRECTION-001", "OFFSET-CORRECTION-002")
def test_the_smallest_offset_of_all_groups(broker: Speaker, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    groups = [unique_name("group") for _ in range(3)]
    for offset, group in enumerate(groups, 1):
        succeeded(broker.update_group(group=group))
        succeeded(broker.update_offset(group=group, topic=topic, offset=offset))
    expect(
        "OFFSET-CORRECTION-001",
        found=smallest(broker, topic),
        expected={0: 1},
        what="smallest offsets by queue",
        transcript=broker.transcript,
    )
    without = smallest(broker, topic, filterGroups=",".join(groups[:2]))
    expect(
        "OFFSET-CORRECTION-001",
        found=without,
        expected={0: 3},
        what="smallest offsets without two groups",
        transcript=broker.transcript,
    )
    expect(
        "OFFSET-CORRECTION-002",
        found=smallest(broker, topic),
        expected={0: 3},
        what="smallest offsets when nobody is left out again",
        transcript=broker.transcript,
    )


def smallest(broker: Speaker, topic: str, **fields: str) -> dict[int, int]:
    """Ask for the smallest offsets of a topic's queues."""
    answer = broker.ask(
        RequestCode.QUERY_CORRECTION_OFFSET,
        {"topic": topic, "compareGroup": "nobody", **fields},
    )
    return dict(decode_body(CorrectedOffsets, succeeded(answer).body).offsets)


@pytest.mark.clause("TXN-RESUME-001")
def test_a_half_message_is_asked_about_anew(
    broker: Speaker, topic: str, group: str
) -> None:
    half = send_half(broker, topic, group=group)
    fields = {"msgId": half.answer.fields["msgId"]}
    answer = broker.ask(RequestCode.RESUME_CHECK_HALF_MESSAGE, fields)
    expect_code("TXN-RESUME-001", answer, ResponseCode.SUCCESS, broker.transcript)
    # Nobody can pull the topic of half messages before the broker has looked at it.
    anew = [
        decode_properties(one.properties)
        for one in records_from(broker, half.commit_log_offset)
        if one.topic == HALF_TOPIC
        and one.queue_offset > half.queue_offset
        and half.unique_key in one.properties
    ]
    expect(
        "TXN-RESUME-001",
        found=[one.get("TRANSACTION_CHECK_TIMES") for one in anew],
        expected=["0"],
        what="TRANSACTION_CHECK_TIMES of what was stored again",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-FILTER-001")
def test_a_filter_server_is_in_the_route_while_it_is_there(
    target: Target, broker: Speaker, namesrv: Speaker, topic: str
) -> None:
    def told() -> list[str]:
        # A broker registers at once when a topic is created.
        create_topic(target, unique_name("topic"))
        route = decode_route(succeeded(namesrv.route(topic)).body)
        return [name for names in route.filter_servers.values() for name in names]

    address = unique_name("127.0.0.1:1")
    with Speaker.connect(broker.address) as filter_server:
        answer = filter_server.ask(
            RequestCode.REGISTER_FILTER_SERVER, {"filterServerAddr": address}
        )
        expect(
            "ADMIN-FILTER-001",
            found=dict(succeeded(answer).fields),
            expected={"brokerId": "0", "brokerName": target.broker_name},
            what="fields of the answer",
            transcript=filter_server.transcript,
        )
        wait_until(lambda: address in told(), what="the filter server is in the route")
    wait_until(lambda: address not in told(), what="it is gone from the route")


CHANGES: Mapping[RequestCode, tuple[dict[str, FieldValue], ResponseCode]] = {
    RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: (
        {"accessKey": "somebody", "secretKey": "12345678", "admin": False},
        ResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED,
    ),
    RequestCode.DELETE_ACL_CONFIG: (
        {"accessKey": "somebody"},
        ResponseCode.DELETE_ACL_CONFIG_FAILED,
    ),
    RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: (
        {"globalWhiteAddrs": "127.0.0.1"},
        ResponseCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED,
    ),
}


@pytest.mark.clause("ADMIN-ACL-001")
@pytest.mark.parametrize("code", CHANGES, ids=lambda code: code.name)
def test_access_cannot_be_changed_while_it_is_off(
    broker: Speaker, code: RequestCode
) -> None:
    fields, refused = CHANGES[code]
    expect_code("ADMIN-ACL-001", broker.ask(code, fields), refused, broker.transcript)


@pytest.mark.clause("ADMIN-ACL-002")
@pytest.mark.parametrize(
    "code",
    [
        RequestCode.GET_BROKER_CLUSTER_ACL_INFO,
        RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG,
    ],
    ids=lambda code: code.name,
)
def test_access_is_not_told_while_it_is_off(broker: Speaker, code: RequestCode) -> None:
    with pytest.raises(NoAnswerError):
        broker.ask(code, timeout_s=1.0)
    found = succeeded(broker.broker_config()).code
    expect("ADMIN-ACL-002", found=found, expected=0, what="the next request's code")

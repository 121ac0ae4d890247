"""Administration: traffic, and how far groups are behind."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping

import pytest

from conformance.harness.client.address import in_one_form
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.requests.groups import (
    consumer_data,
    subscription_data,
)
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_code,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import (
    create_topic,
    unique_name,
    with_clock_rate,
)
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.stored_messages import (
    mapping_of,
    record_of,
    records_of,
    send_apart,
    send_bodies,
)
from spec.store.message_record import record_size
from spec.wire.bodies.admin_bodies import (
    BrokerStatsData,
    ConsumeStatsList,
    QueryConsumeTimeSpanBody,
)
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.offset_tables import ConsumeStats, OffsetWrapper
from spec.wire.bodies.queue_name import QueueName
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

CLOCK_RATE = 20.0
WAIT_S = 0.2
"""Time for which a message waits, much more than a clock's precision."""
QUARTER_MS = 15 * 60 * 1000
COMPARED_GROUPS = 5
"""Groups of other tests whose statistics are compared in two responses."""
SPANS = ("statsMinute", "statsHour", "statsDay")
RATES = {"sum": True, "tps": True, "avgpt": True}
SAMPLES_S = 3 * 10
"""Two samples, and one more for a busy machine."""


@pytest.fixture(scope="module")
def counting(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield a target whose samples we can await: its clock runs faster if it can."""
    if Capability.CLOCK not in target.capabilities:
        yield target
        return
    with with_clock_rate(pytestconfig, CLOCK_RATE) as own:
        yield own


def rates(broker: Client, name: str, key: str) -> BrokerStatsData | None:
    """Return the rates of one statistic, or None while nothing was counted."""
    fields = {"statsName": name, "statsKey": key}
    response = broker.invoke(RequestCode.VIEW_BROKER_STATS_DATA, fields)
    if response.code == ResponseCode.SYSTEM_ERROR:
        return None
    return decode_body(BrokerStatsData, require_success(response).body)


@pytest.mark.clause("ADMIN-STATS-005")
@pytest.mark.needs("wire")
def test_traffic_is_counted_by_topic_and_group(counting: Target) -> None:
    topic = create_topic(counting, unique_name("counted"))
    with counting.connect_to_broker() as broker:
        response = broker.send_message(topic=topic, body=b"1234")
        size = record_size(record_of(broker, response))

        def is_sampled() -> bool:
            require_success(broker.send_message(topic=topic, body=b"1234"))
            broker.pull(topic=topic, offset=0, group="counted_group", max_count=1)
            found = rates(broker, "GROUP_GET_NUMS", f"{topic}@counted_group")
            return bool(found and found.minute and found.minute.sum)

        wait_until(is_sampled, what="traffic was sampled twice", timeout_s=SAMPLES_S)
        means = {"TOPIC_PUT_NUMS": 1, "TOPIC_PUT_SIZE": size}
        for name, mean in means.items():
            fields = {"statsName": name, "statsKey": topic}
            found = mapping_of(
                broker.invoke(RequestCode.VIEW_BROKER_STATS_DATA, fields)
            )
            expect(
                "ADMIN-STATS-005",
                found={span: members_of(value) for span, value in found.items()},
                expected=dict.fromkeys(SPANS, RATES),
                what=f"members of {name}, by span",
                transcript=broker.transcript,
            )
            minute = found["statsMinute"]
            expect(
                "ADMIN-STATS-005",
                found=(minute["avgpt"], minute["sum"] % mean, minute["tps"] > 0),
                expected=(mean, 0, True),
                what=f"{name} of the last minute: mean, rest of the sum, rate over 0",
                transcript=broker.transcript,
            )


def members_of(rates_of_span: object) -> dict[str, bool]:
    """Return the members of a span's rates, each with whether it is a number.

    The rate over one sample is Java's NaN, which is null in JSON.
    """
    if not isinstance(rates_of_span, Mapping):
        return {}
    return {
        name: type(value) in (int, float) or (name == "tps" and value is None)
        for name, value in rates_of_span.items()
    }


@pytest.mark.clause("ADMIN-STATS-006")
@pytest.mark.parametrize("name", ["TOPIC_PUT_NUMS", "NO_SUCH_NUMS"])
def test_what_was_not_counted_is_refused(broker: Client, topic: str, name: str) -> None:
    fields = {"statsName": name, "statsKey": topic}
    response = broker.invoke(RequestCode.VIEW_BROKER_STATS_DATA, fields)
    code = ResponseCode.SYSTEM_ERROR
    expect_code("ADMIN-STATS-006", response, code, broker.transcript)


@pytest.mark.clause("ADMIN-STATS-007")
def test_time_spans_tell_how_far_a_group_is(
    target: Target, broker: Client, topic: str, known_group: str
) -> None:
    stored = send_apart(broker, topic, count=3)
    ready = time.monotonic() + WAIT_S
    require_success(broker.update_offset(group=known_group, topic=topic, offset=2))
    wait_until(lambda: time.monotonic() > ready, what="the last message waits")
    response = time_spans(broker, topic, known_group)
    body = require_success(response).body
    with charged("ADMIN-STATS-007", broker.transcript):
        spans = decode_body(QueryConsumeTimeSpanBody, body).queues
    found = [
        (
            *(one.queue.topic, one.queue.broker_name, one.queue.queue_id),
            *(one.first_stored_at_ms, one.last_stored_at_ms, one.consumed_at_ms),
        )
        for one in spans
    ]
    times = [(stored[0], stored[2], stored[1]), *[(-1, -1, -1)] * 3]
    expect(
        "ADMIN-STATS-007",
        found=sorted(found),
        expected=[
            (topic, target.broker_name, queue_id, *row)
            for queue_id, row in enumerate(times)
        ],
        what="queues, store times of the first, the last and the last consumed message",
        transcript=broker.transcript,
    )
    (first,) = (one for one in spans if one.queue.queue_id == 0)
    expect_that(
        "ADMIN-STATS-007",
        first.delay_ms > WAIT_S * 500,
        found=first.delay_ms,
        expected=f"about {WAIT_S * 1000:g} or more",
        what="milliseconds that the next message waits",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-STATS-012")
def test_time_spans_have_their_times_as_texts(
    broker: Client, topic: str, known_group: str
) -> None:
    send_apart(broker, topic, count=2)
    response = time_spans(broker, topic, known_group)
    with charged("ADMIN-STATS-012", broker.transcript):
        body = require_success(response).body
        spans = decode_body(QueryConsumeTimeSpanBody, body).queues
    pairs = [
        pair
        for one in spans
        for pair in (
            (one.first_stored_at_ms, one.first_stored_at),
            (one.last_stored_at_ms, one.last_stored_at),
            (one.consumed_at_ms, one.consumed_at),
        )
    ]
    # The zone of the broker is not known: only the rest of a quarter is compared.
    found = [(re.sub(r"\d", "0", text), _past_a_quarter(text)) for _, text in pairs]
    expect(
        "ADMIN-STATS-012",
        found=found,
        expected=[
            ("0000-00-00#00:00:00:000", at_ms % QUARTER_MS) for at_ms, _ in pairs
        ],
        what="form of each text, and milliseconds since its quarter of an hour",
        transcript=broker.transcript,
    )


def _past_a_quarter(text: str) -> int:
    """Return the milliseconds since a quarter of an hour; -1 for another form."""
    match = re.search(r"(\d\d):(\d\d):(\d\d\d)$", text)
    if match is None:
        return -1
    minutes, seconds, ms = map(int, match.groups())
    return (minutes * 60_000 + seconds * 1000 + ms) % QUARTER_MS


@pytest.mark.clause("ADMIN-STATS-008")
def test_an_unknown_topic_has_no_time_spans(broker: Client, known_group: str) -> None:
    response = time_spans(broker, unique_name("nowhere"), known_group)
    code = ResponseCode.TOPIC_NOT_EXIST
    expect_code("ADMIN-STATS-008", response, code, broker.transcript)


def time_spans(broker: Client, topic: str, group: str) -> Command:
    """Request the time span of a group's consumption of a topic."""
    fields = {"topic": topic, "group": group}
    return broker.invoke(RequestCode.QUERY_CONSUME_TIME_SPAN, fields)


@pytest.mark.clause("ADMIN-STATS-009")
def test_every_groups_progress_is_told(
    target: Target, broker: Client, topic: str, known_group: str
) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    consumed = records_of(broker.pull(topic=topic, offset=1))[0].stored_at_ms
    require_success(broker.update_offset(group=known_group, topic=topic, offset=2))
    before = mapping_of(broker.all_groups())["subscriptionGroupTable"]
    with charged("ADMIN-STATS-009", broker.transcript):
        statistics = consume_statistics(broker, is_order=False)
    after = mapping_of(broker.all_groups())["subscriptionGroupTable"]
    progress = {
        (queue.topic, queue.queue_id): (
            *(at.broker_offset, at.consumer_offset),
            at.last_stored_at_ms,
        )
        for queue, at in queues_of(statistics, known_group)
    }
    ends = [(3, 2, consumed), *[(0, 0, 0)] * 3]
    expect(
        "ADMIN-STATS-009",
        found=progress,
        expected={(topic, queue_id): row for queue_id, row in enumerate(ends)},
        what="end, committed offset and time of the last message before it, by queue",
        transcript=broker.transcript,
    )
    listed = {name for row in statistics.groups for name in row}
    expect(
        "ADMIN-STATS-009",
        found=sorted((before.keys() & after.keys()) - listed),
        expected=[],
        what="groups that are not listed",
        transcript=broker.transcript,
    )
    expect(
        "ADMIN-STATS-009",
        found=other_times(broker, statistics),
        expected=[],
        what="queues of first groups with another time than in their own statistics",
        transcript=broker.transcript,
    )
    behind = sum(
        at.broker_offset - at.consumer_offset
        for name in listed
        for _, at in queues_of(statistics, name)
    )
    expect(
        "ADMIN-STATS-009",
        found=(statistics.behind, in_one_form(f"{statistics.broker_address}")),
        expected=(behind, str(target.broker)),
        what="totalDiff and brokerAddr",
        transcript=broker.transcript,
    )


def other_times(
    broker: Client, statistics: ConsumeStatsList
) -> list[tuple[QueueName, int, int]]:
    """Return queues of the first groups whose time differs from GET_CONSUME_STATS.

    Other tests commit offsets meanwhile. Only equal offsets are compared.
    """
    names = [name for row in statistics.groups for name in row][:COMPARED_GROUPS]
    found = []
    for name in names:
        response = broker.consume_stats(group=name)
        if response.code != ResponseCode.SUCCESS:
            continue  # deleted meanwhile
        own = decode_body(ConsumeStats, response.body).queues
        for queue, at in queues_of(statistics, name):
            now = own.get(queue, at)
            times = at.last_stored_at_ms, now.last_stored_at_ms
            if now.consumer_offset == at.consumer_offset and times[0] != times[1]:
                found.append((queue, *times))
    return found


@pytest.mark.clause("ADMIN-STATS-009")
def test_progress_in_order_has_no_unordered_topic(
    broker: Client, topic: str, known_group: str
) -> None:
    send_bodies(broker, topic, [b"a"])
    require_success(broker.update_offset(group=known_group, topic=topic, offset=1))
    with charged("ADMIN-STATS-009", broker.transcript):
        statistics = consume_statistics(broker, is_order=True)
    expect(
        "ADMIN-STATS-009",
        found=[queue.topic for queue, _ in queues_of(statistics, known_group)],
        expected=[],
        what="queues of an unordered topic, where isOrder is true",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-STATS-011")
def test_topics_that_no_member_subscribes_to_are_left_out(
    target: Target, broker: Client, topic: str, known_group: str
) -> None:
    other = create_topic(target, unique_name("other"))
    for name in (topic, other):
        require_success(broker.update_offset(group=known_group, topic=name, offset=0))
    subscriptions = [subscription_data(topic=other)]
    consumer = consumer_data(group=known_group, subscriptions=subscriptions)
    with charged("ADMIN-STATS-011", broker.transcript):
        before = topics_with_statistics(broker, known_group, topic)
    require_success(
        broker.heartbeat(client_id=f"{known_group}@1", consumers=[consumer])
    )
    with charged("ADMIN-STATS-011", broker.transcript):
        after = topics_with_statistics(broker, known_group, topic)
    expect(
        "ADMIN-STATS-011",
        found=[before, after],
        expected=[({topic}, {topic, other}, {topic, other}), (set(), {other}, {other})],
        what="topics in GET_CONSUME_STATS of the first one and of all, and in "
        "GET_BROKER_CONSUME_STATS, before and after a subscription to the second one",
        transcript=broker.transcript,
    )


def topics_with_statistics(
    broker: Client, group: str, topic: str
) -> tuple[set[str | None], ...]:
    """Return the topics in a group's statistics, one set for each request."""
    responses = [
        broker.consume_stats(group=group, topic=name) for name in (topic, None)
    ]
    stats = [decode_body(ConsumeStats, require_success(one).body) for one in responses]
    every = queues_of(consume_statistics(broker, is_order=False), group)
    queues = [*(one.queues for one in stats), [queue for queue, _ in every]]
    return tuple({queue.topic for queue in one} for one in queues)


def consume_statistics(broker: Client, *, is_order: bool) -> ConsumeStatsList:
    """Request the progress of all groups."""
    fields = {"isOrder": is_order}
    response = broker.invoke(RequestCode.GET_BROKER_CONSUME_STATS, fields)
    return decode_body(ConsumeStatsList, require_success(response).body)


def queues_of(
    statistics: ConsumeStatsList, group: str
) -> Iterator[tuple[QueueName, OffsetWrapper]]:
    """Yield each queue of *group* with its offsets."""
    for row in statistics.groups:
        for one in row.get(group, ()):
            yield from one.queues.items()

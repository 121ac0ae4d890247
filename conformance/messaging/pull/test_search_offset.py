"""Search by time: exact on every release, between two messages by each its own rule."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.messaging.stored_messages import record_of, send_apart, stored_apart


def found_at(
    broker: Client, topic: str, times: list[int], *, boundary: str | None = None
) -> list[int]:
    """Return the offsets that searches by *times* find."""
    responses = (
        broker.search_offset(topic=topic, timestamp_ms=at, boundary=boundary)
        for at in times
    )
    return [int(require_success(response).fields["offset"]) for response in responses]


def send_many(broker: Client, topic: str, count: int = 40) -> list[int]:
    """Send messages so fast that some have one store time; return these times."""
    responses = [broker.send_message(topic=topic) for _ in range(count)]
    times = [record_of(broker, response).stored_at_ms for response in responses]
    broker.wait_for_max_offset(topic=topic, offset=count)
    return times


@pytest.mark.clause("OFFSET-SEARCH-001", "OFFSET-SEARCH-002")
def test_a_store_time_finds_its_message(broker: Client, topic: str) -> None:
    times = send_apart(broker, topic)
    found = found_at(broker, topic, times)
    expect(
        "OFFSET-SEARCH-001",
        found=found,
        expected=[0, 1, 2, 3],
        what="offsets",
        transcript=broker.transcript,
    )
    early = found_at(broker, topic, [times[0] - 1, 0, -1])
    expect(
        "OFFSET-SEARCH-002",
        found=early,
        expected=[0, 0, 0],
        what="offsets",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-SEARCH-001")
def test_each_queue_is_searched_apart(broker: Client, topic: str) -> None:
    times: dict[int, list[int]] = {queue_id: [] for queue_id in (0, 2, 3)}
    for queue_id in (0, 2, 2, 2, 3):
        times[queue_id].append(stored_apart(broker, topic, queue_id=queue_id))
    for queue_id, own in times.items():
        broker.wait_for_max_offset(topic=topic, queue_id=queue_id, offset=len(own))
        found = [
            broker.search_offset(topic=topic, queue_id=queue_id, timestamp_ms=at)
            for at in own
        ]
        expect(
            "OFFSET-SEARCH-001",
            found=[int(require_success(one).fields["offset"]) for one in found],
            expected=[*range(len(own))],
            what=f"offsets in queue {queue_id}",
            transcript=broker.transcript,
        )


@pytest.mark.clause("OFFSET-SEARCH-001")
def test_a_store_time_of_many_finds_one_of_them(broker: Client, topic: str) -> None:
    times = send_many(broker, topic)
    for at in sorted(set(times)):
        found = found_at(broker, topic, [at])[0]
        expect_that(
            "OFFSET-SEARCH-001",
            found < len(times) and times[found] == at,
            found=found,
            expected=f"one of {[n for n, time in enumerate(times) if time == at]}",
            what="offset",
            transcript=broker.transcript,
        )


@pytest.mark.clause("OFFSET-SEARCH-003")
def test_a_later_time_finds_the_last_message(broker: Client, topic: str) -> None:
    times = send_apart(broker, topic)
    found = found_at(broker, topic, [times[-1] + 1, times[-1] + 10**6, 2**62])
    expect(
        "OFFSET-SEARCH-003",
        found=found,
        expected=[3, 3, 3],
        what="offsets",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-SEARCH-004")
def test_a_later_time_finds_the_end(broker: Client, topic: str) -> None:
    times = send_apart(broker, topic)
    found = found_at(broker, topic, [times[-1] + 1, times[-1] + 10**6, 2**62])
    expect(
        "OFFSET-SEARCH-004",
        found=found,
        expected=[4, 4, 4],
        what="offsets",
        transcript=broker.transcript,
    )


def _between(times: list[int]) -> list[int]:
    """Return the times just after the first message and just before the second."""
    return [times[0] + 1, times[0] + 2, times[1] - 2, times[1] - 1]


@pytest.mark.clause("OFFSET-SEARCH-005")
def test_a_time_between_two_finds_the_nearer(broker: Client, topic: str) -> None:
    times = send_apart(broker, topic)
    found = found_at(broker, topic, _between(times))
    expect(
        "OFFSET-SEARCH-005",
        found=found,
        expected=[0, 0, 1, 1],
        what="offsets",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-SEARCH-006")
def test_a_time_between_two_finds_the_later(broker: Client, topic: str) -> None:
    times = send_apart(broker, topic)
    found = found_at(broker, topic, _between(times))
    expect(
        "OFFSET-SEARCH-006",
        found=found,
        expected=[1, 1, 1, 1],
        what="offsets",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-SEARCH-010", "OFFSET-SEARCH-011")
def test_a_store_time_of_many_finds_the_first_or_the_last(
    broker: Client, topic: str
) -> None:
    times = send_many(broker, topic)
    wanted = sorted(set(times))
    expect(
        "OFFSET-SEARCH-010",
        found=found_at(broker, topic, wanted, boundary="lower"),
        expected=[times.index(at) for at in wanted],
        what="offsets, with the boundary lower",
        transcript=broker.transcript,
    )
    expect(
        "OFFSET-SEARCH-011",
        found=found_at(broker, topic, wanted, boundary="upper"),
        expected=[len(times) - 1 - times[::-1].index(at) for at in wanted],
        what="offsets, with the boundary upper",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-SEARCH-011")
def test_the_upper_boundary_is_the_message_before(broker: Client, topic: str) -> None:
    times = send_apart(broker, topic)
    times_ms = [0, times[0] - 1, *_between(times), times[-1] + 1]
    expect(
        "OFFSET-SEARCH-011",
        found=found_at(broker, topic, times_ms, boundary="upper"),
        expected=[0, 0, 0, 0, 0, 0, 3],
        what="offsets",
        transcript=broker.transcript,
    )

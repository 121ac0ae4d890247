"""Sends that come together leave, and are answered, as when they come one by one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference.core.broker import sends_together
from reference.core.broker.send import LETTERS
from reference.core.store.files import FilesError
from reference.tests.broker.making import NOON_MS, Stage
from reference.tests.broker.test_everyday_send import OTHERS, SETTINGS, USUAL, stage_of
from reference.tests.store.test_told import contents
from spec.wire.command import Command, encode_command
from spec.wire.request_code import RequestCode

ONEWAY = 2


@dataclass(frozen=True)
class Sent:
    """A request of a producer."""

    changes: dict[str, str]
    flag: int = ONEWAY
    code: RequestCode = RequestCode.SEND_MESSAGE_V2
    body: bytes = b"body"

    def frame(self, number: int) -> bytes:
        """Return the request number *number* as it is sent."""
        fields = {**USUAL, **self.changes}
        spelt = {getattr(LETTERS, name): text for name, text in fields.items()}
        return encode_command(
            Command(
                code=self.code,
                opaque=number,
                flag=self.flag,
                fields=spelt,
                body=self.body,
            )
        )


EVERYDAY = st.builds(
    Sent,
    changes=st.fixed_dictionaries(
        {"queue_id": st.sampled_from(["0", "1", "3"])},
        optional={"born_at_ms": st.sampled_from(["1", "2"])},
    ),
    flag=st.sampled_from([0, ONEWAY]),
    body=st.sampled_from([b"", b"body", b"longer body"]),
)
ODD = st.builds(
    Sent,
    changes=OTHERS,
    flag=st.sampled_from([0, ONEWAY]),
    code=st.sampled_from([RequestCode.SEND_MESSAGE_V2, RequestCode.HEART_BEAT]),
)
ROWS = st.lists(EVERYDAY, min_size=6, max_size=20)


def left(stage: Stage) -> tuple[object, ...]:
    """Return what the broker has, and has counted."""
    store, traffic = stage.broker.store, stage.broker.traffic
    counts = store.statistics.put_calls, store.statistics.put_count
    rates = [
        (count.value, count.times)
        for name, key in (
            ("TOPIC_PUT_NUMS", "T"),
            ("TOPIC_PUT_SIZE", "T"),
            ("BROKER_PUT_NUMS", stage.broker.options.cluster),
        )
        if (count := traffic.count(name, key)) is not None
    ]
    offsets = dict(store.log.next_queue_offsets)
    return contents(stage.files), counts, store.statistics.put_size, rates, offsets


@given(rows=st.tuples(ROWS, st.lists(ODD, max_size=2), ROWS), settings=SETTINGS)
@example(([Sent({})] * 9, [], [Sent({"queue_id": "1"})] * 9), {})
@example(([Sent({})] * 9, [Sent({"queue_id": "-1"}, flag=0)], [Sent({})] * 6), {})
@example(([Sent({})] * 9, [Sent({"queue_id": "7"}, flag=0)], [Sent({})] * 6), {})
def test_together_is_one_by_one(
    rows: tuple[list[Sent], list[Sent], list[Sent]], settings: dict[str, str]
) -> None:
    together, alone = stage_of(settings), stage_of(settings)
    for stage in (together, alone):
        # Of a queue that a broker chooses; who looks at a send twice chooses twice.
        stage.broker.next_number = lambda: 1  # type: ignore[method-assign]
    everything = [sent for row in rows for sent in row]
    frames = [sent.frame(number) for number, sent in enumerate(everything)]
    together.hand(1, b"".join(frames))
    for frame in frames:
        alone.hand(1, frame)
    assert _said(together) == _said(alone)
    assert left(together) == left(alone)


def _said(stage: Stage) -> list[tuple[object, ...]]:
    return [
        (answer.opaque, answer.code, answer.remark, dict(answer.fields))
        for answer in stage.inbox(1)
    ]


def taken(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return, as it grows, how many requests each row had that was taken at once."""
    counts: list[int] = []
    put_row = stage.broker.store.put_row

    def noting(messages: list[object], now_ms: int) -> object:
        stored = put_row(messages, now_ms)  # type: ignore[arg-type] # hands them on
        counts.append(len(stored))
        return stored

    monkeypatch.setattr(stage.broker.store, "put_row", noting)
    return counts


def test_a_row_is_taken_at_once_as_far_as_it_is_everyday(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = stage_of({})
    stage.hand(1, Sent({}).frame(1))  # now there is a file
    counts = taken(stage, monkeypatch)
    some = [Sent({})] * 10
    stage.hand(1, b"".join(one.frame(1) for one in some))
    answered, refused = Sent({}, flag=0), Sent({"queue_id": "7"}, flag=0)
    stage.hand(1, b"".join(one.frame(1) for one in [*some, answered, refused, *some]))
    few = [Sent({})] * (sends_together.ROW_FROM - 1)
    stage.hand(1, b"".join(one.frame(1) for one in few))
    assert counts == [10, 11]
    assert stage.broker.store.statistics.put_count == 1 + 10 + 21 + len(few)


def test_who_has_to_wait_for_the_disk_is_answered_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for settings in ({"flushDiskType": "SYNC_FLUSH"}, {"brokerRole": "SYNC_MASTER"}):
        stage = stage_of(settings)
        stage.hand(1, Sent({}).frame(1))
        counts = taken(stage, monkeypatch)
        stage.hand(1, b"".join(Sent({}, flag=0).frame(n) for n in range(9)))
        assert counts == []
        stage.hand(1, b"".join(Sent({}).frame(n) for n in range(9)))
        assert counts == [9]


def test_a_row_that_the_files_refuse_is_taken_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = stage_of({})
    stage.hand(1, Sent({}).frame(1))
    append, refused = stage.broker.store.log.queue.append, []

    def refusing(data: bytes) -> int:
        if len(data) > 1000:
            refused.append(len(data))
            raise FilesError("no space left on the disk")
        return append(data)

    monkeypatch.setattr(stage.broker.store.log.queue, "append", refusing)
    stage.hand(1, b"".join(Sent({}).frame(1) for _ in range(12)))
    assert len(refused) == 1
    assert stage.broker.store.statistics.put_count == 13
    assert stage.broker.store.max_offset("T", 1) == 13
    assert stage.now_ms == NOON_MS

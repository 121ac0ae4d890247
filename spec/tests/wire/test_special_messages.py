"""Traces, dispatches, notes, delays and retries: known texts, and round trips."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout import LayoutError
from spec.wire.message import (
    delay_levels,
    multi_dispatch,
    retry_topics,
    system_topics,
    trace,
)
from spec.wire.message.delay_levels import DelayLevels
from spec.wire.message.multi_dispatch import Dispatch
from spec.wire.message.properties import decode_properties, encode_properties
from spec.wire.message.system_topics import RealPlace
from spec.wire.message.trace import TraceLine
from spec.wire.pop import pop_receipt, pop_topics
from spec.wire.pop.pop_receipt import PoppedQueue, PopReceipt

PUB = (
    b"Pub\x011795264231301\x01DefaultRegion\x01g\x01TopicTest\x017F00000100002A9F\x01TagA"
    b"\x01k\x01127.0.0.1:10911\x015\x013\x010\x017F0000010000\x01true\x02"
)
AFTER = b"SubAfter\x01r1\x017F0000\x015\x01true\x01null\x010\x011795264231999\x01g\x02"
names = st.text(
    st.characters(codec="utf-8", exclude_characters=",\x01\x02"), min_size=1
)
offsets = st.integers(0, 2**63 - 1)
words = st.text(st.characters(codec="utf-8", exclude_characters="\x01\x02"))
dispatches = st.builds(
    Dispatch,
    queue=names.filter(str.strip) | names.map("%LMQ%{}".format),
    queue_offset=offsets,
)


@st.composite
def trace_lines(draw: st.DrawFn) -> TraceLine:
    """Lines of every kind, and of one that is not known."""
    kind = draw(st.sampled_from([*trace.WORDS, "Newer"]))
    named = trace.WORDS.get(kind, ("0", "1"))
    return TraceLine(kind=kind, words={name: draw(words) for name in named})


def test_a_trace_of_a_send_is_read() -> None:
    (line,) = trace.decode_trace(PUB)
    assert line.kind == "Pub"
    assert line.words["unique_key"] == "7F00000100002A9F"
    assert line.words["success"] == "true"
    assert "client_host" not in line.words


def test_a_trace_of_two_lines_is_read_and_written_again() -> None:
    lines = trace.decode_trace(PUB + AFTER)
    assert [line.kind for line in lines] == ["Pub", "SubAfter"]
    assert lines[1].words["keys"] == trace.ABSENT
    assert lines[1].words["group"] == "g"
    assert trace.encode_trace(lines) == PUB + AFTER


def test_an_old_trace_of_a_send_has_no_message_id() -> None:
    pieces = PUB[:-1].split(b"\x01")
    (line,) = trace.decode_trace(b"\x01".join(pieces[:12] + pieces[13:]) + b"\x02")
    assert line.words["success"] == "true"
    assert "message_id" not in line.words


def test_words_without_a_name_are_kept() -> None:
    (line,) = trace.decode_trace(b"Recall" + b"\x01w" * 8 + b"\x02")
    assert list(line.words)[6:] == ["6", "7"]


@given(lines=st.lists(trace_lines(), max_size=4))
def test_what_is_traced_is_read_again(lines: list[TraceLine]) -> None:
    assert trace.decode_trace(trace.encode_trace(lines)) == lines


def test_a_word_with_a_separator_is_refused() -> None:
    with pytest.raises(LayoutError):
        trace.encode_trace([TraceLine(kind="Recall", words={"topic": "a\x01b"})])


@given(found=st.lists(dispatches, max_size=4))
def test_dispatches_are_two_properties(found: list[Dispatch]) -> None:
    properties = multi_dispatch.properties_of(found)
    assert multi_dispatch.dispatches_of(properties) == found


def test_dispatches_are_read_from_a_records_properties() -> None:
    text = "INNER_MULTI_DISPATCH\x01%LMQ%a,T\x02INNER_MULTI_QUEUE_OFFSET\x017,0\x02"
    light, plain = multi_dispatch.dispatches_of(decode_properties(text))
    assert (light.queue, light.queue_offset, light.is_light) == ("%LMQ%a", 7, True)
    assert (plain.queue, plain.queue_offset, plain.is_light) == ("T", 0, False)
    assert encode_properties(multi_dispatch.properties_of([light, plain])) == text


@pytest.mark.parametrize(
    ("queues", "numbers"), [("a,b", "1"), ("a", ""), ("a", "x"), ("a", "9" * 19)]
)
def test_dispatches_that_do_not_fit_are_refused(queues: str, numbers: str) -> None:
    properties = {multi_dispatch.QUEUES: queues, multi_dispatch.OFFSETS: numbers}
    with pytest.raises(LayoutError):
        multi_dispatch.dispatches_of(properties)


def test_a_queue_with_a_comma_cannot_be_named() -> None:
    with pytest.raises(LayoutError):
        multi_dispatch.properties_of([Dispatch(queue="a,b", queue_offset=0)])


@given(topic=names, queue_id=st.integers(0, 2**31 - 1))
def test_what_is_set_aside_names_its_real_place(topic: str, queue_id: int) -> None:
    place = RealPlace(topic=topic, queue_id=queue_id)
    kept = system_topics.with_real_place({"KEYS": "k"}, place)
    assert system_topics.real_place(kept) == place
    assert kept["KEYS"] == "k"


@pytest.mark.parametrize(
    "properties",
    [{}, {"REAL_TOPIC": "T"}, {"REAL_TOPIC": "T", "REAL_QID": "-1"}],
    ids=["nothing", "no queue", "negative"],
)
def test_a_message_without_a_real_place_is_refused(properties: dict[str, str]) -> None:
    with pytest.raises(LayoutError):
        system_topics.real_place(properties)


@given(found=st.lists(offsets, min_size=1, max_size=4))
def test_a_note_names_half_messages(found: list[int]) -> None:
    assert system_topics.decode_op_body(system_topics.encode_op_body(found)) == found
    one = system_topics.encode_op_body(found[:1], is_list=False)
    assert system_topics.decode_op_body(one) == found[:1]


def test_notes_are_digits_and_commas() -> None:
    assert system_topics.encode_op_body([12], is_list=False) == b"12"
    assert system_topics.encode_op_body([12, 0]) == b"12,0,"


@pytest.mark.parametrize("body", [b"", b",", b"1,,2", b"x", b"-1", b"1 ", b"9" * 19])
def test_a_note_of_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(LayoutError):
        system_topics.decode_op_body(body)


def test_a_note_of_one_has_one() -> None:
    for wrong, is_list in (([1, 2], False), ([-1], True)):
        with pytest.raises(LayoutError):
            system_topics.encode_op_body(wrong, is_list=is_list)


def test_the_default_levels_are_eighteen() -> None:
    levels = delay_levels.decode_delay_levels(delay_levels.DEFAULT_DELAY_LEVELS)
    assert levels.highest == 18
    assert levels.due_at_ms(1, stored_at_ms=5) == 1005
    assert levels.due_at_ms(18, stored_at_ms=0) == 7_200_000
    assert levels.due_at_ms(19, stored_at_ms=0) == 1000
    assert delay_levels.encode_delay_levels(levels) == delay_levels.DEFAULT_DELAY_LEVELS


@given(seconds=st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_levels_are_read_as_they_were_written(seconds: list[int]) -> None:
    levels = DelayLevels(tuple(1000 * number for number in seconds))
    again = delay_levels.decode_delay_levels(delay_levels.encode_delay_levels(levels))
    assert again == levels


@pytest.mark.parametrize("text", ["", "1", "s", "1s  2s", "1w", "-1s", "1.5s"])
def test_a_delay_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LayoutError):
        delay_levels.decode_delay_levels(text)


def test_a_part_of_a_second_is_no_delay() -> None:
    with pytest.raises(LayoutError):
        delay_levels.encode_delay_levels(DelayLevels((1500,)))


def test_a_level_waits_in_the_queue_before_its_number() -> None:
    assert delay_levels.queue_of_level(1) == 0
    assert delay_levels.level_of_queue(17) == 18
    wrong: list[tuple[Callable[[int], int], int]] = [
        (delay_levels.queue_of_level, 0),
        (delay_levels.level_of_queue, -1),
    ]
    for function, number in wrong:
        with pytest.raises(LayoutError):
            function(number)


@given(group=names)
def test_a_group_has_a_topic_for_retries_and_one_for_dead_letters(group: str) -> None:
    assert retry_topics.group_of(retry_topics.retry_topic(group)) == group
    assert retry_topics.group_of(retry_topics.dead_letter_topic(group)) == group


def test_another_topic_is_no_groups() -> None:
    assert retry_topics.group_of("TopicTest") is None


@pytest.mark.parametrize(
    ("requested", "times", "level"), [(0, 0, 3), (0, 5, 8), (2, 5, 2), (-1, 0, None)]
)
def test_a_retry_waits_longer_each_time(
    requested: int, times: int, level: int | None
) -> None:
    assert retry_topics.retry_level(requested, reconsume_times=times) == level


def test_what_is_handed_back_twice_keeps_its_first_topic_and_id() -> None:
    once = retry_topics.handed_back({"KEYS": "k"}, topic="T", message_id="1")
    twice = retry_topics.handed_back(once, topic="%RETRY%g", message_id="2")
    assert once == {"KEYS": "k", "RETRY_TOPIC": "T", "ORIGIN_MESSAGE_ID": "1"}
    assert twice == once
    with pytest.raises(LayoutError):
        retry_topics.retry_level(0, reconsume_times=-1)


RECEIPT = "5 1795276583255 60000 3 0 broker-a 2 7"
numbers = st.integers(0, 2**63 - 1)
receipts = st.builds(
    PopReceipt,
    first_offset=numbers,
    popped_at_ms=numbers,
    invisible_ms=numbers,
    revive_queue_id=numbers,
    topic_kind=st.sampled_from(["0", "1", "2"]),
    broker_name=st.text(
        st.characters(codec="utf-8", exclude_characters=" "), min_size=1
    ),
    queue_id=numbers,
    queue_offset=st.none() | numbers,
)
popped_queues = st.builds(
    PoppedQueue,
    topic_kind=st.sampled_from(["0", "1", "2"]),
    queue=numbers.map(str) | st.just("qo3%7"),
    offsets=st.lists(numbers, min_size=1, max_size=3).map(tuple),
)


@given(receipt=receipts)
def test_a_receipt_is_read_as_it_was_written(receipt: PopReceipt) -> None:
    text = pop_receipt.encode_receipt(receipt)
    assert pop_receipt.decode_receipt(text) == receipt


def test_a_receipt_is_read_from_a_known_text() -> None:
    receipt = pop_receipt.decode_receipt(RECEIPT)
    assert (receipt.first_offset, receipt.queue_offset) == (5, 7)
    assert (receipt.broker_name, receipt.revive_queue_id) == ("broker-a", 3)
    whole = pop_receipt.decode_receipt(RECEIPT.removesuffix(" 7"))
    assert whole.queue_offset is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "1 2 3", RECEIPT + " 8", RECEIPT[:-1], "x" + RECEIPT),
        *(RECEIPT.replace("broker-a", ""), RECEIPT.replace(" 0 ", " 3 ")),
    ],
)
def test_a_receipt_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LayoutError):
        pop_receipt.decode_receipt(text)


def test_a_brokers_name_with_a_space_fits_no_receipt() -> None:
    receipt = pop_receipt.decode_receipt(RECEIPT)
    with pytest.raises(LayoutError):
        pop_receipt.encode_receipt(replace(receipt, broker_name="a b"))


@given(
    found=st.lists(
        popped_queues, max_size=3, unique_by=lambda q: (q.topic_kind, q.queue)
    )
)
def test_popped_queues_are_read_as_they_were_written(found: list[PoppedQueue]) -> None:
    text = pop_receipt.encode_popped_queues(found)
    assert pop_receipt.decode_popped_queues(text) == found


@pytest.mark.parametrize(
    "text", ["0 0", "0 0 1;0 0 2", "0 0 x", "9 0 1", ";", "0 0 1,"]
)
def test_popped_queues_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(LayoutError):
        pop_receipt.decode_popped_queues(text)


@given(data=st.binary(max_size=60))
def test_bad_bytes_raise_nothing_but_a_layout_error(data: bytes) -> None:
    assert trace.encode_trace(trace.decode_trace(PUB + data))
    with contextlib.suppress(LayoutError):
        system_topics.decode_op_body(data)
    with contextlib.suppress(LayoutError):
        delay_levels.decode_delay_levels(data.decode("latin-1"))


def test_a_popped_message_comes_again_from_a_topic_of_group_and_topic() -> None:
    again = pop_topics.next_topics("Orders", group="billing")
    assert again == ("%RETRY%billing_Orders", "%RETRY%billing+Orders")
    assert pop_topics.next_topics(again[1], group="billing") == (again[1],)
    popped = [pop_topics.popped_topic(topic, group="billing") for topic in again]
    assert popped == ["Orders", "Orders"]
    assert pop_topics.popped_topic("Orders", group="billing") == "Orders"

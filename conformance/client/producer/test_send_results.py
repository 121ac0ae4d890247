"""Responses to sends: in pieces, glued, late, twice, in another order, with more."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any

import pytest

from conformance.client.application import Application
from conformance.client.calls import AN_ERROR
from conformance.client.producer.sends import meet_sends, sent_after
from conformance.client.scripted.scripted_broker import SENDS, ScriptedBroker
from conformance.client.scripted.scripted_server import ReceivedRequest, each
from conformance.harness.process.deadline import comes_true
from conformance.harness.pytest_plugin.expectations import expect
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.response_code import ResponseCode

TOO_SHORT_MS = 1500
LONG_MS = 10_000
HELD_S = 1.5
TOO_LARGE, NEGATIVE = b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff"
"""Sizes of frames that a client cannot take."""
CLOSED_S = 5.0
"""Time in which a client closes a connection, on a busy machine."""


def placed(request: ReceivedRequest, offset: int, **more: str) -> bytes:
    """Return the bytes of a response that names *offset*."""
    received = {"msgId": "7F00000100002A9F00000000000003E8", "queueId": "0"}
    return request.frame(fields={**received, "queueOffset": str(offset), **more})


@pytest.mark.clause("WIRE-FRAME-006", "CLIENT-SENDRESULT-001")
def test_a_response_may_come_byte_by_byte(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    def one_by_one(request: ReceivedRequest) -> None:
        for byte in placed(request, 5):
            request.write(bytes([byte]))

    meet_sends(broker, one_by_one)
    outcome = application.producer().send(topic)
    expect("WIRE-FRAME-006", found=outcome.word, expected="SEND_OK", what="result")


@pytest.mark.clause("WIRE-FRAME-006", "CLIENT-SENDRESULT-001")
def test_a_response_may_be_cut_anywhere(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    places = list(range(1, 40))

    def cut(request: ReceivedRequest) -> None:
        frame = placed(request, 5)
        place = places.pop(0)
        request.write(frame[:place])
        # The rest comes with the next request, or immediately. In both cases the
        # client has read two pieces, unless its system has put them together.
        request.write(frame[place:])

    meet_sends(broker, cut)
    producer = application.producer()
    while places:
        outcome = producer.send(topic)
        expect("WIRE-FRAME-006", found=outcome.word, expected="SEND_OK", what="result")


@pytest.mark.clause("WIRE-FRAME-006")
def test_responses_may_come_glued_and_in_another_order(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    application.need("lanes")
    meet_sends(broker, lambda _request: None)
    producer = application.producer()
    producer_knows_the_route(application, producer.begin(topic, b"0"), broker)
    sendings = [producer.begin(topic, b"%d" % n, lane=str(n)) for n in (1, 2, 3)]
    request = {one.command.body: one for one in broker.wait_for(*SENDS, count=4)}
    frames = [placed(request[b"%d" % n], 10 * n) for n in (3, 0, 2, 1)]
    request[b"1"].write(b"".join(frames))
    found = [one.outcome().result or {} for one in sendings]
    expect(
        "WIRE-FRAME-006",
        found=[one.get("queue_offset") for one in found],
        expected=["10", "20", "30"],
        what="offsets of three messages whose answers came backwards, in one piece",
    )


@pytest.mark.clause("WIRE-COMMAND-006")
def test_a_response_that_comes_twice_counts_once(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    count = [0]

    def twice(request: ReceivedRequest) -> None:
        count[0] += 1
        request.write(2 * placed(request, count[0]))

    meet_sends(broker, twice)
    producer = application.producer()
    found = [(producer.send(topic).result or {}).get("queue_offset") for _ in range(3)]
    expect("WIRE-COMMAND-006", found=found, expected=["1", "2", "3"], what="offsets")


@pytest.mark.clause("WIRE-COMMAND-006", "CLIENT-SEND-001")
def test_a_response_that_comes_too_late_is_nobody_elses(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    meet_sends(broker, lambda _request: None)
    producer = application.producer(retries=0)
    outcome = producer.send(topic, b"first", timeout_ms=TOO_SHORT_MS)
    expect("CLIENT-SEND-001", found=outcome.ending, expected=AN_ERROR, what="end")
    late = broker.wait_for_sends()[0]
    sending = producer.begin(topic, b"second")
    second = broker.wait_for_sends(2)[1]
    with suppress(OSError):  # 5.x closes a connection on which it waited in vain
        late.write(placed(late, 1))
    second.write(placed(second, 2))
    found = (sending.outcome().result or {}).get("queue_offset")
    expect("WIRE-COMMAND-006", found=found, expected="2", what="offset")


@pytest.mark.clause("WIRE-COMMAND-006")
def test_a_response_to_a_request_that_nobody_made_is_passed_over(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    def stranger_first(request: ReceivedRequest) -> None:
        stranger = Command(code=1, opaque=1_999_999_999, flag=1, remark="no")
        request.write(encode_command(stranger) + placed(request, 5))

    meet_sends(broker, stranger_first)
    outcome = application.producer(retries=0).send(topic)
    expect("WIRE-COMMAND-006", found=outcome.word, expected="SEND_OK", what="result")


@pytest.mark.clause("CLIENT-SENDRESULT-001")
def test_what_is_unknown_in_a_response_is_passed_over(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    more = {"later": "{}", "MSG_REGION": "DefaultRegion", "größe": "\x01"}
    meet_sends(broker, lambda request: request.write(placed(request, 5, **more)))
    outcome = application.producer().send(topic)
    expect(
        "CLIENT-SENDRESULT-001", found=outcome.word, expected="SEND_OK", what="result"
    )


@pytest.mark.clause("CLIENT-SENDRESULT-001")
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"language": "RUST"}, id="an unknown language"),
        pytest.param({"version": 9999}, id="an unknown version"),
        pytest.param({"flag": 0b1001}, id="an unknown flag"),
        pytest.param({"serialize_type": SerializeType.ROCKETMQ}, id="binary header"),
        pytest.param({"body": b"more"}, id="a body"),
    ],
)
def test_a_response_of_another_making_is_a_response(
    application: Application,
    broker: ScriptedBroker,
    topic: str,
    changes: dict[str, Any],
) -> None:
    meet_sends(
        broker, lambda one: one.respond(fields=broker.put_result_fields(one), **changes)
    )
    outcome = application.producer().send(topic)
    expect(
        "CLIENT-SENDRESULT-001", found=outcome.word, expected="SEND_OK", what="result"
    )


@pytest.mark.long
@pytest.mark.clause("CLIENT-SENDRESULT-003")
def test_a_response_that_comes_before_the_end_of_its_time_is_the_result(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    meet_sends(broker, lambda _request: None)
    sending = application.producer(retries=0).begin(topic, timeout_ms=LONG_MS)
    request = broker.wait_for_sends()[0]
    # Until a time that a client which counts wrongly does not wait for.
    Event().wait(HELD_S)
    request.write(placed(request, 5))
    found = sending.outcome().word
    expect("CLIENT-SENDRESULT-003", found=found, expected="SEND_OK", what="result")


@pytest.mark.clause("WIRE-FRAME-005", "WIRE-FRAME-010")
@pytest.mark.parametrize(
    ("clause_id", "data"),
    [
        pytest.param("WIRE-FRAME-005", TOO_LARGE, id="too large"),
        pytest.param("WIRE-FRAME-010", NEGATIVE, id="negative"),
    ],
)
def test_a_frame_that_is_none_ends_the_connection(
    application: Application,
    broker: ScriptedBroker,
    topic: str,
    clause_id: str,
    data: bytes,
) -> None:
    sent_after(application, broker, topic, lambda request: request.write(data))
    connection = broker.sends[0].connection
    expect(
        clause_id,
        found=comes_true(lambda: not connection.is_open, CLOSED_S),
        expected=True,
        what="closed connection",
    )


@pytest.mark.clause("CLIENT-RETRY-002")
@pytest.mark.parametrize(
    "data",
    [pytest.param(TOO_LARGE, id="too large"), pytest.param(NEGATIVE, id="negative")],
)
def test_a_frame_that_is_none_does_not_end_the_client(
    application: Application, broker: ScriptedBroker, topic: str, data: bytes
) -> None:
    write = partial(ReceivedRequest.write, data=data)
    expect(
        "CLIENT-RETRY-002",
        found=sent_after(application, broker, topic, write),
        expected=("SEND_OK", 2),
        what="result and attempts after such a frame",
    )


@pytest.mark.clause("CLIENT-RETRY-002")
def test_a_broker_that_starts_again_is_sent_to_again(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer()
    producer.send(topic)
    broker.stop()
    expect(
        "CLIENT-RETRY-002",
        found=producer.send(topic).is_error,
        expected=True,
        what="failure while the only broker is gone",
    )
    broker.start()
    expect(
        "CLIENT-RETRY-002",
        found=producer.send(topic).word,
        expected="SEND_OK",
        what="result when it is there again",
    )


def producer_knows_the_route(
    application: Application, first: object, broker: ScriptedBroker
) -> None:
    """Wait for a first message, which is not answered yet."""
    assert first is not None
    assert application.adapter.running
    broker.wait_for_sends()


@pytest.mark.clause("CLIENT-RETRY-016")
def test_who_is_sent_away_asks_again_on_a_new_connection(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    def send_away(request: ReceivedRequest) -> None:
        request.respond(ResponseCode.GO_AWAY, remark="please go away")

    meet_sends(broker, each(send_away, broker.store))
    outcome = application.producer(retries=0).send(topic)
    expect("CLIENT-RETRY-016", found=outcome.word, expected="SEND_OK", what="result")
    first, second = broker.wait_for_sends(2)
    expect(
        "CLIENT-RETRY-016",
        found=second.connection is first.connection,
        expected=False,
        what="the second request came by the first connection",
    )

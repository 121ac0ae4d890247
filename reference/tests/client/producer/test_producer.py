"""A producer's requests to name servers and brokers, with scripted responses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest

from reference.core.client.message import Message, MessageQueue, Mode, SendStatus
from reference.core.client.remoting.errors import Reason
from reference.tests.client.routes import route_of
from reference.tests.client.world import (
    NAME_SERVER,
    OTHER_NAME_SERVER,
    World,
)
from spec.wire.remoting.request_code import RequestCode

MESSAGE = Message(topic="T", body=b"hello")
SYSTEM_ERROR, MESSAGE_ILLEGAL, FLUSH_DISK_TIMEOUT = 1, 13, 10


def test_a_send_asks_for_the_route_once_and_then_the_broker() -> None:
    world = World()
    producer = world.producer()
    call = world.begin(producer.send(MESSAGE))
    world.give_route(route_of("a"))
    sent = world.sent_request()
    assert (sent.address, sent.command.code) == ("a:10911", 310)
    world.store(sent)
    result = world.result(call)
    assert result.status is SendStatus.SEND_OK
    assert (result.offset_message_id, result.queue.queue_id) == ("offset-id", 1)
    assert result.queue_offset == 7
    world.begin(producer.send(MESSAGE))
    assert world.sent_request().address == "a:10911"


@pytest.mark.parametrize("code", [SYSTEM_ERROR, None])
def test_a_synchronous_send_is_tried_at_another_broker(code: int | None) -> None:
    world = World()
    call = world.begin(world.producer().send(MESSAGE))
    world.give_route(route_of("a", "b"))
    addresses, opaques, keys = [], set[int](), set[str]()
    for _ in range(3):
        sent = world.sent_request()
        addresses.append(sent.address)
        opaques.add(sent.command.opaque)
        keys.add(sent.command.fields["i"])
        if code is None:
            world.fail(sent)
        else:
            world.response(sent, code)
    assert world.sent_requests() == []
    assert addresses == ["a:10911", "b:10911", "a:10911"]
    assert (len(opaques), len(keys)) == (3, 1)
    error = world.error(call)
    assert error.failure.code == code
    assert error.brokers_tried == ("a", "b", "a")


def test_the_time_of_a_call_includes_route_and_retries() -> None:
    world = World()
    call = world.begin(world.producer().send(MESSAGE))
    world.wait(1000)
    world.give_route(route_of("a", "b"))
    world.sent_request()
    world.wait(1999)
    assert call not in world.finished
    world.wait(1)
    assert world.error(call).failure.reason is Reason.CALL_TIMEOUT
    assert world.sent_requests() == []


def test_what_was_stored_badly_is_sent_again_if_that_is_wanted() -> None:
    world = World()
    producer = world.producer(retries_not_stored=True)
    call = world.begin(producer.send(MESSAGE))
    world.give_route(route_of("a", "b"))
    world.store(world.sent_request(), FLUSH_DISK_TIMEOUT)
    world.fail(world.sent_request())
    world.fail(world.sent_request())
    assert world.result(call).status is SendStatus.FLUSH_DISK_TIMEOUT


def test_an_asynchronous_send_is_repeated_as_it_is_when_nothing_comes() -> None:
    world = World()
    call = world.begin(world.producer().send(MESSAGE, mode=Mode.ASYNC))
    world.give_route(route_of("a", "b"))
    first = world.sent_request()
    world.wait(3999)
    assert world.sent_requests() == []
    world.wait(1)
    second = world.sent_request()
    assert (first.address, second.address) == ("a:10911", "b:10911")
    assert second.command.fields == first.command.fields
    assert second.command.opaque != first.command.opaque
    world.wait(999)
    world.store(second)
    assert world.result(call).queue.broker_name == "b"


def test_without_a_response_of_a_name_server_the_error_names_them_all() -> None:
    world = World(NAME_SERVER, OTHER_NAME_SERVER)
    producer = world.producer()
    call = world.begin(producer.send(MESSAGE))
    for reason in (Reason.CONNECT, Reason.TIMEOUT) * 2:  # for T, then for TBW102
        world.fail(world.sent_request(), reason)
    assert world.sent_requests() == []
    assert str(world.error(call)) == (
        f"no response from a name server: {NAME_SERVER}: the connection could not be"
        f" made, {OTHER_NAME_SERVER}: no response before the timeout"
    )
    call = world.begin(producer.send(MESSAGE))
    for _ in range(2):
        world.give_route(None)
    assert world.error(call).failure.reason is Reason.NO_ROUTE


def test_topics_that_take_turns_each_use_all_of_their_queues() -> None:
    world = World()
    producer = world.producer()
    used = defaultdict[str, list[str]](list)
    for topic in ("T", "U") * 2:
        world.begin(producer.send(Message(topic=topic, body=b"x"), mode=Mode.ONEWAY))
        if topic not in used:
            world.give_route(route_of("a", count=2))
        used[topic].append(world.sent_request().command.fields["e"])
    assert used == {"T": ["0", "1"], "U": ["0", "1"]}


def test_a_selector_chooses_and_its_choice_is_not_left() -> None:
    world = World()
    call = world.begin(
        world.producer().send(MESSAGE, selector=lambda queues: queues[-1])
    )
    world.give_route(route_of("a", "b"))
    sent = world.sent_request()
    assert (sent.address, sent.command.fields["e"]) == ("b:10911", "3")
    world.fail(sent)
    assert world.error(call).failure.reason is Reason.CONNECT


def test_a_batch_has_one_request_and_all_keys() -> None:
    world = World()
    call = world.begin(world.producer().send([MESSAGE, MESSAGE]))
    world.give_route(route_of("a"))
    sent = world.sent_request()
    assert sent.command.code == 320
    world.store(sent)
    assert len(world.result(call).message_id.split(",")) == 2


def test_a_batch_larger_than_a_message_may_be_is_not_sent() -> None:
    world = World()
    half = Message(topic=MESSAGE.topic, body=bytes(50))
    call = world.begin(world.producer(body_size_max=100).send([half, half]))
    assert world.error(call).failure.code == 13
    assert world.sent_requests() == []


def test_a_name_server_that_is_gone_is_left_for_the_next() -> None:
    world = World(NAME_SERVER, OTHER_NAME_SERVER)
    producer = world.producer()
    world.begin(producer.send(MESSAGE))
    first = world.sent_request()
    world.fail(first)
    second = world.sent_request()
    assert (first.address, second.address) == (NAME_SERVER, OTHER_NAME_SERVER)
    world.fail(second)
    assert world.sent_request().command.fields["topic"] == "TBW102"


def test_routes_are_asked_for_again_every_30_seconds() -> None:
    world = World()
    producer = world.producer()
    producer.start()
    world.begin(producer.send(MESSAGE))
    world.give_route(route_of("a"))
    world.store(world.sent_request())
    world.wait(29_999)
    assert world.sent_request().command.code == RequestCode.HEART_BEAT
    world.wait(1)
    world.give_route(route_of("b"))
    world.begin(producer.send(MESSAGE))
    assert world.sent_request().address == "b:10911"


def test_a_lost_connection_ends_all_that_waited_for_it() -> None:
    world = World()
    call = world.begin(world.producer(retry_count=0).send(MESSAGE))
    world.give_route(route_of("a"))
    world.rpc.connection_lost(world.sent_request().address)
    assert world.error(call).failure.reason is Reason.LOST


def test_an_answer_that_comes_too_late_is_dropped() -> None:
    world = World()
    call = world.begin(world.producer(retry_count=0).send(MESSAGE))
    world.give_route(route_of("a"))
    sent = world.sent_request()
    world.wait(3000)
    world.store(sent)
    assert world.error(call).failure.reason is Reason.TIMEOUT


def test_a_selector_that_raises_ends_its_own_call() -> None:
    world = World()

    def no_queue(_: Sequence[MessageQueue]) -> MessageQueue:
        raise KeyError("no queue for this order")

    call = world.begin(world.producer().send(MESSAGE, selector=no_queue))
    other = world.begin(world.producer().send(MESSAGE))
    world.give_route(route_of("a"))
    world.store(world.sent_request())
    assert world.result(other).queue.broker_name == "a"
    assert isinstance(world.finished[call], KeyError)


@pytest.mark.parametrize("mode", [Mode.ONEWAY, Mode.ASYNC])
def test_a_message_that_is_written_makes_its_broker_available_again(mode: Mode) -> None:
    world = World()
    producer = world.producer(avoids_slow_brokers=True, retry_count=0)
    call = world.begin(producer.send(MESSAGE))
    world.give_route(route_of("a"))
    world.fail(world.sent_request())
    assert world.error(call).failure.reason is Reason.CONNECT
    assert not producer.latency_faults.is_available("a", world.now_ms)
    world.begin(producer.send(MESSAGE, mode=mode))
    assert producer.latency_faults.is_available("a", world.now_ms)


def test_a_retry_of_an_asynchronous_send_leaves_the_vip_port() -> None:
    world = World()
    world.begin(world.producer(uses_vip_port=True).send(MESSAGE, mode=Mode.ASYNC))
    world.give_route(route_of("a", "b"))
    first = world.sent_request()
    world.wait(4000)
    assert (first.address, world.sent_request().address) == ("a:10909", "b:10911")

"""Hooks of producers and consumers: when they are called, and what they cannot do."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reference.core.client.hooks import (
    CONSUME_TIMEOUT_MS,
    ConsumeContext,
    ConsumeReturnType,
    SendContext,
    SendHooks,
)
from reference.core.client.message import Message, MessageQueue, Mode
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.tests.client.hooks import RaisingHook, RecordingHook
from reference.tests.client.peers import record
from reference.tests.client.push_peers import PushPeers
from reference.tests.client.routes import route_of
from reference.tests.client.world import World
from spec.wire.message.properties import decode_properties

MESSAGE = Message(topic="T", body=b"hello")
SYSTEM_ERROR = 1
FORBIDDEN = ClientError(Failure(reason=Reason.ILLEGAL, remark="not this one"))


def test_an_attempt_is_told_of_before_and_after_whatever_other_hooks_throw() -> None:
    world, hook = World(), RecordingHook()
    producer = world.producer(hooks=SendHooks(hooks=(RaisingHook(), hook)))
    call = world.begin(producer.send(MESSAGE))
    world.give_route(route_of("a", "b"))
    world.response(world.sent_request(), SYSTEM_ERROR)
    assert hook.calls == [
        ("before", None),
        ("after", Reason.REFUSED),
        ("before", None),
    ]
    world.store(world.sent_request())
    assert hook.calls[3:] == [("after", "SEND_OK")]
    assert world.result(call).queue.broker_name == "b"


def test_what_a_hook_puts_in_the_place_of_a_message_is_sent() -> None:
    class Marking(RecordingHook):
        def before(self, context: SendContext | ConsumeContext) -> None:
            assert isinstance(context, SendContext)
            properties = {**context.message.properties, "mark": "yes"}
            context.message = replace(context.message, properties=properties)

    world = World()
    producer = world.producer(hooks=SendHooks(hooks=(Marking(),)))
    world.begin(producer.send(MESSAGE))
    world.give_route(route_of("a"))
    sent = world.sent_request().command
    assert decode_properties(sent.fields["i"])["mark"] == "yes"


def test_a_repeated_asynchronous_send_is_told_of_when_it_goes_and_when_it_ends() -> (
    None
):
    world, hook = World(), RecordingHook()
    producer = world.producer(hooks=SendHooks(hooks=(hook,)))
    world.begin(producer.send(MESSAGE, mode=Mode.ASYNC))
    world.give_route(route_of("a", "b"))
    sent = world.sent_request()
    assert hook.calls == [("before", None), ("after", None)]
    world.fail(sent, Reason.LOST)
    again = world.sent_request()
    assert len(hook.calls) == 2
    world.store(again)
    assert hook.calls[2:] == [("after", "SEND_OK")]


def test_a_oneway_send_is_told_of_without_a_result() -> None:
    world, hook = World(), RecordingHook()
    producer = world.producer(hooks=SendHooks(hooks=(hook,)))
    world.begin(producer.send(MESSAGE, mode=Mode.ONEWAY))
    world.give_route(route_of("a"))
    assert hook.calls == [("before", None), ("after", None)]


def forbid(_attempt: SendContext) -> None:
    """Forbid every message."""
    raise FORBIDDEN


def break_down(_attempt: SendContext) -> None:
    """Fail, as no hook should."""
    raise KeyError("who")


@pytest.mark.parametrize(("mode", "tries"), [(Mode.SYNC, 3), (Mode.ASYNC, 1)])
def test_what_is_forbidden_is_never_sent_and_told_to_no_hook(
    mode: Mode, tries: int
) -> None:
    world, hook = World(), RecordingHook()
    hooks = SendHooks(forbid=(forbid,), hooks=(hook,))
    call = world.begin(world.producer(hooks=hooks).send(MESSAGE, mode=mode))
    world.give_route(route_of("a", "b"))
    assert world.sent_requests() == []
    error = world.error(call)
    assert error.failure.reason is Reason.FORBIDDEN
    assert error.failure.remark == "not this one"
    assert len(error.brokers_tried) == tries
    assert hook.calls == []


def test_a_hook_that_breaks_down_where_it_may_forbid_ends_the_call() -> None:
    world = World()
    producer = world.producer(hooks=SendHooks(forbid=(break_down,)))
    call = world.begin(producer.send(MESSAGE))
    world.give_route(route_of("a", "b"))
    error = world.error(call)
    assert error.failure.reason is Reason.HOOK_FAILED
    assert error.brokers_tried == ("a",)


def test_a_filter_takes_messages_out_whatever_others_throw() -> None:
    def keep_even(messages: list[MessageExt]) -> None:
        messages[:] = [one for one in messages if one.record.queue_offset % 2 == 0]

    def fail(_messages: list[MessageExt]) -> None:
        raise RuntimeError

    peers = PushPeers(from_first=True, filters=(fail, keep_even))
    peers.start()
    peers.find(peers.pull(), *(record(n) for n in range(4)))
    (delivery,) = peers.delivered()
    assert [one.record.queue_offset for one in delivery.messages] == [0, 2]
    peers.consumed(delivery.queue, delivery.messages)
    peers.wait(5000)
    assert peers.consumer.pull_loop.offsets()[MessageQueue("T", "a", 0)] == 3


@pytest.mark.parametrize(
    ("fails", "error", "spent_ms", "outcome"),
    [
        (False, None, 0, ConsumeReturnType.SUCCESS),
        (True, None, 0, ConsumeReturnType.FAILED),
        (True, "KeyError: 1", CONSUME_TIMEOUT_MS, ConsumeReturnType.EXCEPTION),
        (True, None, CONSUME_TIMEOUT_MS, ConsumeReturnType.TIME_OUT),
        (False, None, CONSUME_TIMEOUT_MS - 1, ConsumeReturnType.SUCCESS),
        (False, None, CONSUME_TIMEOUT_MS, ConsumeReturnType.TIME_OUT),
    ],
)
def test_a_consume_hook_hears_what_came_of_a_message(
    fails: bool, error: str | None, spent_ms: int, outcome: ConsumeReturnType
) -> None:
    hook = RecordingHook()
    peers = PushPeers(from_first=True, hooks=(RaisingHook(), hook))
    peers.start()
    peers.find(peers.pull(), record(0))
    (delivery,) = peers.delivered()
    assert hook.calls == []
    assert peers.consumer.begin_consume(delivery)
    assert hook.calls == [("before", None)]
    peers.world.now_ms += spent_ms
    peers.consumer.process_consume_result(
        delivery,
        delivery.messages if fails else (),
        error=error,
    )
    assert hook.calls[1:] == [("after", outcome)]
    peers.go_on()
    assert len(peers.sent(36)) == fails

"""Under network faults, a call ends once, in time, within its attempts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.client.message import Message, Mode
from reference.core.client.options import ProducerOptions
from reference.tests.client.routes import route_of
from reference.tests.client.world import SentRequest, World
from spec.wire.remoting.request_code import RequestCode

ATTEMPTS = 1 + ProducerOptions(group="g").retry_count
# The pauses below may hold an attempt's end up, each by as much as it lasts.
HELD_UP_MS = 5 * 1500
LATEST_MS = {Mode.SYNC: 3000, Mode.ASYNC: 6000 + HELD_UP_MS, Mode.ONEWAY: 3000}
HAPPENINGS = st.sampled_from(
    ["stored", "refused", "illegal", "cut", "lost", "late", "garbage"]
)


@settings(deadline=None)
@given(
    mode=st.sampled_from(Mode),
    happenings=st.lists(HAPPENINGS, max_size=4),
    pauses_ms=st.lists(st.integers(0, 1500), min_size=5, max_size=5),
    avoids=st.booleans(),
)
def test_a_call_ends(
    mode: Mode, happenings: list[str], pauses_ms: list[int], avoids: bool
) -> None:
    world = World()
    begun_ms = world.now_ms
    producer = world.producer(avoids_slow_brokers=avoids)
    call = world.begin(producer.send(Message(topic="T", body=b"x"), mode=mode))
    world.give_route(route_of("a", "b"))
    attempts = 0
    for happening, pause_ms in zip([*happenings, "late"], pauses_ms, strict=False):
        sent = [
            one
            for one in world.sent_requests()
            if one.command.code == RequestCode.SEND_MESSAGE_V2
        ]
        attempts += len(sent)
        world.wait(pause_ms)
        for one in sent:
            if one.opaque is not None:
                happen(world, one, happening)
    attempts += len(world.sent_requests())
    while call not in world.finished:
        world.wait_to_be_woken()
        assert world.now_ms - begun_ms <= LATEST_MS[mode], "the call never ends"
        attempts += len(world.sent_requests())
    assert 0 < attempts <= ATTEMPTS
    assert world.rpc.is_idle or mode is Mode.ONEWAY


def happen(world: World, request: SentRequest, happening: str) -> None:
    """Let *happening* befall *request*."""
    if happening == "stored":
        world.store(request)
    elif happening == "refused":
        world.response(request, 1)
    elif happening == "illegal":
        world.response(request, 13)
    elif happening == "garbage":
        world.response(request, 0, {"msgId": "x", "queueId": "no number"})
    elif happening == "cut":
        world.fail(request)
    elif happening == "lost":
        world.rpc.connection_lost(request.address)

"""A pull consumer's requests and results, with scripted responses."""

from __future__ import annotations

import pytest

from reference.core.client.message import MessageQueue
from reference.core.client.options import PullOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_consumer import PullConsumer
from reference.core.client.pull.pull_request import PullResult, PullStatus
from reference.core.client.remoting.errors import Reason
from reference.tests.client.hooks import RecordingHook
from reference.tests.client.peers import record
from reference.tests.client.routes import broker_data, queue_data, route_of
from reference.tests.client.world import Call, SentRequest, World
from spec.routing.route_data import TopicRoute
from spec.store.message_record import encode_record
from spec.wire.bodies.heartbeat import HeartbeatData
from spec.wire.bodies.json_body import decode_body

QUEUE = MessageQueue("T", "a", 0)
PULL, COMMIT, QUERY_NOT_FOUND = 11, 15, 22
HEART_BEAT, LEAVE = 34, 35


class PullPeers:
    """A pull consumer whose client has the route of its topic."""

    def __init__(self, route: TopicRoute | None = None, **options: object) -> None:
        self.world = World()
        given: dict[str, object] = {"group": "g", "client_id": "me", **options}
        self.consumer = PullConsumer(
            PullOptions(**given),  # type: ignore[arg-type] # tests know the names
            self.world.client,
        )
        self.world.routes.table["T"] = route or route_of("a", count=2)

    def pull(self, expression: str = "*") -> Call:
        """Begin to pull from the offset 7 on."""
        return self.world.begin(
            self.consumer.pull(QUEUE, expression, offset=7, count=4)
        )

    def response(self, request: SentRequest, *tags: str, suggested: int = 0) -> None:
        """Respond to a pull with messages of these tags."""
        found = [record(7 + n, tag=tag) for n, tag in enumerate(tags)]
        fields = {
            "nextBeginOffset": str(7 + len(tags)),
            "minOffset": "1",
            "maxOffset": "100",
            "suggestWhichBrokerId": str(suggested),
        }
        body = b"".join(map(encode_record, found))
        self.world.response(request, 0, fields, body)

    def found(self, call: Call) -> PullResult:
        """Return the result of a pull."""
        self.world.sent_requests()
        pulled = self.world.finished[call]
        assert isinstance(pulled, PullResult), pulled
        return pulled


def test_a_pull_asks_for_what_the_application_wants_and_is_not_held() -> None:
    peers = PullPeers()
    call = peers.pull("A || B")
    sent = peers.world.sent_request()
    assert (sent.address, sent.command.code) == ("a:10911", PULL)
    wanted = {
        "consumerGroup": "g",
        "queueId": "0",
        "queueOffset": "7",
        "maxMsgNums": "4",
        "sysFlag": "4",
        "subscription": "A || B",
    }
    assert wanted.items() <= sent.command.fields.items()
    peers.response(sent, "A", "C", "B")
    found = peers.found(call)
    assert found.status is PullStatus.FOUND
    assert (found.next_offset, found.min_offset, found.max_offset) == (10, 1, 100)
    assert [one.properties["TAGS"] for one in found.messages] == ["A", "B"]


def test_the_next_pull_goes_where_the_last_answer_says_but_offsets_do_not() -> None:
    route = TopicRoute(
        queue_datas=(queue_data("a"),), broker_datas=(broker_data("a", 0, 1),)
    )
    peers = PullPeers(route)
    peers.pull()
    peers.response(peers.world.sent_request(), "A", suggested=1)
    peers.pull()
    assert peers.world.sent_request().address == "a:10921"
    peers.world.begin(peers.consumer.max_offset(QUEUE))
    assert peers.world.sent_request().address == "a:10911"


def test_a_pull_that_is_not_answered_fails_after_ten_seconds() -> None:
    peers = PullPeers()
    call = peers.pull()
    peers.world.sent_request()
    peers.world.wait(9999)
    assert peers.world.sent_requests() == []
    assert call not in peers.world.finished
    peers.world.wait(1)
    assert peers.world.error(call).failure.reason is Reason.TIMEOUT


def test_an_offset_is_queried() -> None:
    peers = PullPeers()
    call = peers.world.begin(peers.consumer.min_offset(QUEUE))
    sent = peers.world.sent_request()
    assert (sent.address, sent.command.code) == ("a:10911", 31)
    peers.world.response(sent, 0, {"offset": "12"})
    peers.world.sent_requests()
    assert peers.world.finished[call] == 12


def test_a_group_that_never_committed_is_at_no_offset() -> None:
    peers = PullPeers()
    call = peers.world.begin(peers.consumer.committed(QUEUE))
    peers.world.response(peers.world.sent_request(), QUERY_NOT_FOUND)
    peers.world.sent_requests()
    assert peers.world.finished[call] is None


@pytest.mark.parametrize("fields", [{}, {"offset": "many"}])
def test_an_answer_without_an_offset_is_an_error(fields: dict[str, str]) -> None:
    peers = PullPeers()
    call = peers.world.begin(peers.consumer.max_offset(QUEUE))
    peers.world.response(peers.world.sent_request(), 0, fields)
    assert peers.world.error(call).failure.reason is Reason.REFUSED


def test_an_offset_is_committed_without_an_answer() -> None:
    peers = PullPeers()
    call = peers.world.begin(peers.consumer.commit(QUEUE, 5))
    commit = peers.world.sent_request().command
    assert (commit.code, commit.is_oneway) == (COMMIT, True)
    assert commit.fields["commitOffset"] == "5"
    assert peers.world.finished[call] is None


def test_a_queue_whose_broker_is_not_known_has_its_route_asked_for() -> None:
    peers = PullPeers(route_of("b"))
    call = peers.pull()
    peers.world.give_route(route_of("a"))
    assert peers.world.sent_request().address == "a:10911"
    assert call not in peers.world.finished


def test_a_queue_whose_broker_nobody_knows_is_an_error() -> None:
    peers = PullPeers(route_of("b"))
    call = peers.pull()
    peers.world.give_route(None)
    assert peers.world.error(call).failure.reason is Reason.NO_BROKER


def test_queues_are_told_sorted_and_no_topic_is_an_error() -> None:
    peers = PullPeers()
    call = peers.world.begin(peers.consumer.queues("T"))
    peers.world.give_route(route_of("b", "a", count=1))
    peers.world.sent_requests()
    found = peers.world.finished[call]
    assert found == (MessageQueue("T", "a", 0), MessageQueue("T", "b", 0))
    call = peers.world.begin(peers.consumer.queues("U"))
    peers.world.give_route(None)
    assert peers.world.error(call).failure.reason is Reason.NO_ROUTE


def test_brokers_hear_that_a_group_pulls_and_that_it_leaves() -> None:
    peers = PullPeers()
    peers.consumer.start()
    peers.world.sent_requests()
    peers.world.wait_to_be_woken()
    (beat,) = peers.world.sent_requests()
    assert beat.command.code == HEART_BEAT
    (member,) = decode_body(HeartbeatData, beat.command.body).consumers
    assert (member.group, member.consume_type) == ("g", "CONSUME_ACTIVELY")
    peers.consumer.stop()
    assert peers.world.sent_request().command.code == LEAVE


def test_filters_and_hooks_hear_of_what_is_pulled() -> None:
    def drop_first(messages: list[MessageExt]) -> None:
        del messages[0]

    hook = RecordingHook()
    peers = PullPeers(filters=(drop_first,), hooks=(hook,))
    call = peers.pull()
    peers.response(peers.world.sent_request(), "A", "B")
    assert [one.properties["TAGS"] for one in peers.found(call).messages] == ["B"]
    assert hook.calls == [("before", None), ("after", "SUCCESS")]


@pytest.mark.parametrize(("offset", "count"), [(-1, 1), (0, 0), (0, -1)])
def test_an_impossible_pull_is_not_sent(offset: int, count: int) -> None:
    peers = PullPeers()
    task = peers.consumer.pull(QUEUE, offset=offset, count=count)
    error = peers.world.error(peers.world.begin(task))
    assert error.failure.reason is Reason.NOT_PULLED
    assert peers.world.sent_requests() == []

"""Half messages, what is told about them, and what is answered when a broker asks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.core.client.message import Message, Queue, SendResult, SendStatus
from reference.core.client.pulling import Received
from reference.core.client.transactions import Decision, Transactions, half_message
from reference.tests.client.making import route_of
from reference.tests.client.world import World
from spec.host import Host
from spec.store.message_record import Record, encode_record
from spec.wire.command import Command
from spec.wire.message_id import encode_message_id
from spec.wire.properties import encode_properties

END_TRANSACTION, CHECK = 37, 39
RESULT = SendResult(
    status=SendStatus.SEND_OK,
    message_id="KEY",
    offset_message_id=encode_message_id(Host.of("127.0.0.1", 10911), 4711),
    queue=Queue("T", "a", 1),
    queue_offset=7,
)


def transactions(world: World, decision: Decision = Decision.UNKNOWN) -> Transactions:
    def check(_half: Received) -> Decision:
        if decision is Decision.UNKNOWN:
            raise RuntimeError("no idea")
        return decision

    world.routes.keep("T", route_of("a"))
    return Transactions("g", check, asker=world.asker, routes=world.routes)


def question(group: str = "g") -> Command:
    properties = {"PGROUP": group, "UNIQ_KEY": "KEY"}
    record = Record(
        topic="T",
        queue_id=1,
        queue_offset=7,
        physical_offset=4711,
        properties=encode_properties(properties),
    )
    fields = {"tranStateTableOffset": "7", "commitLogOffset": "4711"}
    return Command(code=CHECK, flag=2, fields=fields, body=encode_record(record))


def test_a_half_message_says_whose_it_is_and_is_not_delayed() -> None:
    message = Message(topic="T", body=b"x", properties={"DELAY": "1", "own": "2"})
    half = half_message(message, "g")
    assert half.properties == {"TRAN_MSG": "true", "PGROUP": "g", "own": "2"}


@pytest.mark.parametrize("decision", Decision)
def test_the_broker_is_told_what_came_of_it(decision: Decision) -> None:
    world = World()
    assert transactions(world).finish(RESULT, lambda: decision) is decision
    told = world.question()
    assert (told.address, told.command.code) == ("a:10911", END_TRANSACTION)
    assert told.command.is_oneway
    assert told.command.fields == {
        "producerGroup": "g",
        "tranStateTableOffset": "7",
        "commitLogOffset": "4711",
        "commitOrRollback": str(int(decision)),
        "fromTransactionCheck": "false",
        "msgId": "KEY",
    }


def test_who_fails_does_not_know() -> None:
    world = World()

    def act() -> Decision:
        raise RuntimeError("broken")

    assert transactions(world).finish(RESULT, act) is Decision.UNKNOWN
    assert world.question().command.remark == "RuntimeError: broken"


def test_what_is_stored_badly_is_rolled_back_unseen() -> None:
    world = World()
    badly = replace(RESULT, status=SendStatus.FLUSH_DISK_TIMEOUT)
    acted = list[int]()

    def act() -> Decision:
        acted.append(1)
        return Decision.COMMIT

    assert transactions(world).finish(badly, act) is Decision.ROLLBACK
    assert acted == []


@pytest.mark.parametrize("decision", Decision)
def test_who_is_asked_tells_the_broker_that_asked(decision: Decision) -> None:
    world = World()
    transactions(world, decision)
    world.receive("b:1", question())
    told = world.question()
    assert (told.address, told.command.is_oneway) == ("b:1", True)
    assert told.command.fields["commitOrRollback"] == str(int(decision))
    assert told.command.fields["fromTransactionCheck"] == "true"
    assert told.command.fields["commitLogOffset"] == "4711"


def test_who_is_asked_for_another_group_is_silent() -> None:
    world = World()
    transactions(world, Decision.COMMIT)
    world.receive("b:1", question("other"))
    world.receive("b:1", replace(question(), body=b"no record"))
    assert world.questions() == []

"""Half messages, their end, and responses to a broker's check request."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from msgspec import structs

from reference.core.client.message import MessageQueue, SendResult, SendStatus
from reference.core.client.producer.transaction import (
    LocalTransactionState,
    TransactionCheck,
    TransactionService,
)
from reference.core.client.pull.message_ext import MessageExt
from reference.core.remoting.effects import LogError
from reference.tests.client.routes import route_of
from reference.tests.client.world import World
from spec.host import Host
from spec.store.message_record import Record, encode_record
from spec.wire.message.message_id import encode_message_id
from spec.wire.message.properties import encode_properties
from spec.wire.remoting.command import Command

END_TRANSACTION, CHECK = 37, 39
RESULT = SendResult(
    status=SendStatus.SEND_OK,
    message_id="KEY",
    offset_message_id=encode_message_id(Host.of("127.0.0.1", 10911), 4711),
    queue=MessageQueue("T", "a", 1),
    queue_offset=7,
)


def transactions(
    world: World, decision: LocalTransactionState = LocalTransactionState.UNKNOWN
) -> TransactionService:
    def check(_half: MessageExt) -> LocalTransactionState:
        if decision is LocalTransactionState.UNKNOWN:
            raise RuntimeError("no idea")
        return decision

    world.routes.table["T"] = route_of("a")
    return TransactionService("g", check, world.client)


def sent_request(group: str = "g") -> Command:
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


@pytest.mark.parametrize("decision", LocalTransactionState)
def test_the_broker_is_told_what_came_of_it(decision: LocalTransactionState) -> None:
    world = World()
    assert transactions(world).end_transaction(RESULT, lambda: decision) is decision
    ended = world.sent_request()
    assert (ended.address, ended.command.code) == ("a:10911", END_TRANSACTION)
    assert ended.command.is_oneway
    assert ended.command.fields == {
        "producerGroup": "g",
        "tranStateTableOffset": "7",
        "commitLogOffset": "4711",
        "commitOrRollback": str(int(decision)),
        "fromTransactionCheck": "false",
        "msgId": "KEY",
    }


def test_who_fails_does_not_know() -> None:
    world = World()

    def act() -> LocalTransactionState:
        raise RuntimeError("broken")

    assert (
        transactions(world).end_transaction(RESULT, act)
        is LocalTransactionState.UNKNOWN
    )
    assert world.sent_request().command.remark == "RuntimeError: broken"


@pytest.mark.parametrize("message_id", ["", "null", "7F00", "x" * 32])
def test_the_outcome_is_returned_without_the_place_of_the_half_message(
    message_id: str,
) -> None:
    world = World()
    result = structs.replace(RESULT, offset_message_id=message_id)
    service = transactions(world)
    commit = LocalTransactionState.COMMIT
    assert service.end_transaction(result, lambda: commit) is commit
    (line,) = [e for e in world.rpc.take_effects() if isinstance(e, LogError)]
    assert line.text.startswith("transaction KEY not ended: ")


def test_who_is_asked_for_another_group_is_silent() -> None:
    world = World()
    transactions(world, LocalTransactionState.COMMIT)
    world.receive("b:1", sent_request("other"))
    world.receive("b:1", replace(sent_request(), body=b"no record"))
    assert world.sent_requests() == []


def test_a_check_without_a_state_ends_no_other_request() -> None:
    world = World()
    world.expects_errors = True
    world.routes.table["T"] = route_of("a")
    undecided = cast(TransactionCheck, lambda _half: None)
    TransactionService("g", undecided, world.client)
    world.receive("a:10911", sent_request())
    assert world.sent_requests() == []
    (line,) = world.logged
    assert "39" in line

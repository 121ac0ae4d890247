"""A reply is passed on, and answered when its client has answered, or is silent."""

from __future__ import annotations

from reference.core.broker.reply import PATIENCE_MS
from reference.tests.broker.making import Stage, send_fields
from spec.wire import fastjson
from spec.wire.command import Command, encode_command
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

REPLIER, ASKER = 1, 2


def sent() -> tuple[Stage, Command]:
    """Return a stage on which a reply was sent, and what its client was sent."""
    stage = Stage()
    for connection in (REPLIER, ASKER):
        stage.connect(connection)
    members = {"clientID": "asker", "producerDataSet": [{"groupName": "g"}]}
    stage.ask(ASKER, RequestCode.HEART_BEAT, {}, fastjson.dumps(members))
    fields = send_fields("T", properties="REPLY_TO_CLIENT\x01asker\x02")
    answers = stage.ask(REPLIER, RequestCode.SEND_REPLY_MESSAGE, fields, b"reply")
    assert answers == []
    (pushed,) = stage.inbox(ASKER)
    return stage, pushed


def test_the_sender_is_answered_once_the_client_has() -> None:
    stage, pushed = sent()
    assert (pushed.code, pushed.body) == (
        RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,
        b"reply",
    )
    stage.hand(ASKER, encode_command(Command(code=0, opaque=pushed.opaque, flag=1)))
    (answer,) = stage.inbox(REPLIER)
    assert answer.code == ResponseCode.SUCCESS
    assert stage.broker.store.max_offset("T", 0) == 1
    stage.wait(PATIENCE_MS)
    assert stage.inbox(REPLIER) == []


def test_the_sender_is_answered_when_the_client_is_silent() -> None:
    stage, _ = sent()
    stage.wait(PATIENCE_MS)
    (answer,) = stage.inbox(REPLIER)
    assert answer.code == ResponseCode.SYSTEM_ERROR

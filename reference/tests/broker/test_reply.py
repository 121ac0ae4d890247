"""A reply is passed on, and answered when its client has answered, or is silent."""

from __future__ import annotations

from reference.core.broker.send.reply import TIMEOUT_MS
from reference.tests.broker.broker_driver import BrokerDriver, send_fields
from spec.wire.bodies import fastjson
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

REPLIER, REQUESTER = 1, 2


def sent() -> tuple[BrokerDriver, Command]:
    """Return a driver on which a reply was sent, and what its client was sent."""
    driver = BrokerDriver()
    for connection in (REPLIER, REQUESTER):
        driver.connect(connection)
    members = {"clientID": "asker", "producerDataSet": [{"groupName": "g"}]}
    driver.invoke(REQUESTER, RequestCode.HEART_BEAT, {}, fastjson.dumps(members))
    fields = send_fields("T", properties="REPLY_TO_CLIENT\x01asker\x02")
    responses = driver.invoke(REPLIER, RequestCode.SEND_REPLY_MESSAGE, fields, b"reply")
    assert responses == []
    (pushed,) = driver.inbox(REQUESTER)
    return driver, pushed


def test_the_sender_is_answered_when_the_client_is_silent() -> None:
    driver, _ = sent()
    driver.wait(TIMEOUT_MS)
    (response,) = driver.inbox(REPLIER)
    assert response.code == ResponseCode.SYSTEM_ERROR


def test_a_reply_has_the_time_at_which_it_is_stored() -> None:
    driver, pushed = sent()
    driver.wait(3_000)
    response = Command(code=0, opaque=pushed.opaque, flag=1)
    driver.hand(REQUESTER, encode_command(response))
    assert driver.broker.state.store.stored_at("T", 0, 0) == driver.now_ms

"""A reply is passed on, and answered when its client has answered, or is silent."""

from __future__ import annotations

from reference.core.broker.send.reply import TIMEOUT_MS
from reference.tests.broker.broker_driver import BrokerDriver, send_fields
from spec.store.message_record import decode_record
from spec.wire.bodies import fastjson
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

REPLIER, REQUESTER = 1, 2


def sent(system_flags: int = 0) -> tuple[BrokerDriver, Command]:
    """Return a driver on which a reply was sent, and what its client was sent."""
    driver = BrokerDriver()
    for connection in (REPLIER, REQUESTER):
        driver.connect(connection)
    join(driver, "g")
    assert reply(driver, sysFlag=system_flags) == []
    (pushed,) = driver.inbox(REQUESTER)
    return driver, pushed


def join(driver: BrokerDriver, *groups: str) -> None:
    """Send the heartbeat of the requester with its producer groups."""
    rows = [{"groupName": group} for group in groups]
    members = {"clientID": "asker", "producerDataSet": rows}
    driver.invoke(REQUESTER, RequestCode.HEART_BEAT, {}, fastjson.dumps(members))


def reply(driver: BrokerDriver, **more: object) -> list[Command]:
    """Send a reply; return the responses by then."""
    fields = send_fields("T", properties="REPLY_TO_CLIENT\x01asker\x02") | more
    return driver.invoke(REPLIER, RequestCode.SEND_REPLY_MESSAGE, fields, b"reply")


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


def test_a_stored_reply_has_no_system_flags() -> None:
    driver, pushed = sent(system_flags=1)
    assert pushed.fields["sysFlag"] == "1"
    response = Command(code=0, opaque=pushed.opaque, flag=1)
    driver.hand(REQUESTER, encode_command(response))
    (record,) = driver.broker.state.store.get("T", 0, 0, 1).records
    assert decode_record(record).system_flags == 0


def test_a_stored_reply_counts_as_a_put() -> None:
    driver, _ = sent()
    driver.wait(TIMEOUT_MS)
    count = driver.broker.state.statistics.count("TOPIC_PUT_NUMS", "T")
    assert count is not None
    assert count.value == 1


def test_a_client_that_leaves_one_producer_group_gets_no_replies() -> None:
    driver = BrokerDriver()
    for connection in (REPLIER, REQUESTER):
        driver.connect(connection)
    join(driver, "g", "other")
    fields = {"clientID": "asker", "producerGroup": "other"}
    driver.invoke(REQUESTER, RequestCode.UNREGISTER_CLIENT, fields)
    join(driver, "g")
    (response,) = reply(driver)
    assert response.remark == "push reply message fail, channel of <asker> not found."

"""Sends under each broker role, and settings that change while the broker runs."""

from __future__ import annotations

import pytest

from reference.core.broker.broker_config import BrokerOptions
from reference.core.settings import SettingError
from reference.core.store.types import NewMessage
from reference.tests.broker.broker_driver import (
    CLIENT,
    BrokerDriver,
    pull_fields,
    send_fields,
)
from spec.wire.message.message_id import encode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

IN_THE_LOG = encode_message_id(CLIENT, 0)
"""Id of the first message of any broker: only its offset is read."""


def response_of(settings: dict[str, str], properties: str = "") -> Command:
    """Return the response of a broker with these settings to a send."""
    driver = BrokerDriver(settings)
    driver.connect(1)
    fields = send_fields("T", properties=properties)
    (response,) = driver.invoke(1, RequestCode.SEND_MESSAGE, fields, b"body")
    return response


@pytest.mark.parametrize(
    ("role", "code"),
    [
        ("ASYNC_MASTER", ResponseCode.SUCCESS),
        ("SYNC_MASTER", ResponseCode.SLAVE_NOT_AVAILABLE),
        ("SLAVE", ResponseCode.SERVICE_NOT_AVAILABLE),
    ],
)
def test_a_role_has_its_answer(role: str, code: int) -> None:
    assert response_of({"brokerRole": role}).code == code


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        (RequestCode.SEND_MESSAGE, send_fields("T")),
        (RequestCode.SEND_REPLY_MESSAGE, send_fields("T")),
        (RequestCode.PULL_MESSAGE, pull_fields("T", 7)),
        (RequestCode.RESUME_CHECK_HALF_MESSAGE, {"msgId": IN_THE_LOG}),
    ],
)
def test_no_request_appends_to_the_log_of_a_slave(
    code: int, fields: dict[str, object]
) -> None:
    driver = BrokerDriver({"brokerRole": "SLAVE", "offsetCheckInSlave": "true"})
    driver.connect(1)
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), b"makes the topic")
    store = driver.broker.state.store
    store.append([NewMessage(topic="T", queue_id=0, body=b"copied")], driver.now_ms)
    end = store.log.files.end
    driver.invoke(1, code, fields, b"body")
    driver.wait(1000)
    assert store.log.files.end == end


def test_a_lonely_master_names_the_messages_place() -> None:
    assert response_of({"brokerRole": "SYNC_MASTER"}).fields["queueOffset"] == "0"


def test_a_message_that_does_not_wait_succeeds_at_a_lonely_master() -> None:
    response = response_of({"brokerRole": "SYNC_MASTER"}, "WAIT\x01false\x02")
    assert response.code == ResponseCode.SUCCESS


@pytest.mark.parametrize(
    "settings",
    [
        {"brokerRole": "SLAVE"},
        {"brokerRole": "SLAVE", "brokerId": "-1"},
        {"brokerRole": "MASTER"},
    ],
)
def test_a_role_that_cannot_be_is_refused(settings: dict[str, str]) -> None:
    with pytest.raises(SettingError):
        BrokerOptions(settings).check_role()


def test_a_master_has_the_id_0_whatever_its_settings_say() -> None:
    options = BrokerOptions({"brokerId": "3"})
    options.check_role()
    assert options.broker_id == 0


def test_the_default_topic_once_closed_stays_closed() -> None:
    driver = BrokerDriver()
    driver.connect(1)
    codes: list[int] = []
    for setting in ("true", "false", "true"):
        line = f"autoCreateTopicEnable={setting}\n".encode()
        driver.invoke(1, RequestCode.UPDATE_BROKER_CONFIG, {}, line)
        fields = send_fields(f"T{len(codes)}")
        (response,) = driver.invoke(1, RequestCode.SEND_MESSAGE, fields, b"body")
        codes.append(response.code)
    unknown = ResponseCode.TOPIC_NOT_EXIST
    assert codes == [ResponseCode.SUCCESS, unknown, unknown]

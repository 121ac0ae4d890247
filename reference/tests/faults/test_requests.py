"""Handlers with faults refuse requests, by a share that the seed decides."""

from __future__ import annotations

from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from reference.core.remoting.server import RemotingServer
from reference.shell.faults.catalogue import parse_faults
from reference.shell.faults.requests import add_broker_faults, add_refusal
from reference.shell.faults.switch import FaultSwitch
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

SEND, UPDATE = int(RequestCode.SEND_MESSAGE), int(RequestCode.UPDATE_BROKER_CONFIG)
GET = int(RequestCode.GET_BROKER_CONFIG)


class Broker(RemotingServer):
    """A server that counts sends and records the settings it receives."""

    def __init__(self) -> None:
        super().__init__()
        self.stored, self.settings = 0, b""
        self.handlers = {UPDATE: self._update, GET: lambda _: Response(body=b"a=1\n")}
        self.sequence_handlers = {SEND: lambda all_of: [self._send() for _ in all_of]}

    def _send(self) -> Response:
        self.stored += 1
        return Response()

    def _update(self, request: Request) -> Response:
        self.settings = request.body
        return Response()

    def codes(self, count: int) -> list[int]:
        """Return the response codes of *count* sends."""
        responses = [self.handlers[SEND](request(SEND)) for _ in range(count)]
        return [response.code for response in responses if response is not None]

    def update(self, body: bytes) -> int:
        """Return the response code to new settings."""
        response = self.handlers[UPDATE](request(UPDATE, body))
        assert response is not None
        return response.code


def request(code: int, body: bytes = b"") -> Request:
    """Return a request without fields."""
    return Request(code, 1, 0, {}, body, "JAVA", 0)


def faulty(text: str, *, seed: int = 0) -> Broker:
    """Return a broker with faults."""
    broker = Broker()
    add_broker_faults(broker, FaultSwitch(parse_faults([text]), seed=seed))
    return broker


def test_a_refused_send_is_not_stored() -> None:
    broker = faulty("busy")
    assert broker.codes(3) == [ResponseCode.SYSTEM_BUSY] * 3
    assert broker.stored == 0


def test_a_send_without_flush_is_stored() -> None:
    broker = faulty("flush-timeout")
    assert broker.codes(2) == [ResponseCode.FLUSH_DISK_TIMEOUT] * 2
    assert broker.stored == 2


def test_a_seed_decides_which_requests_have_a_fault() -> None:
    codes = faulty("busy:10%", seed=3).codes(1000)
    assert codes == faulty("busy:10%", seed=3).codes(1000)
    assert codes != faulty("busy:10%", seed=4).codes(1000)
    assert 60 < codes.count(ResponseCode.SYSTEM_BUSY) < 140


def test_faults_are_changed_by_a_request() -> None:
    broker = faulty("busy")
    assert broker.update(b"faults=none\n") == ResponseCode.SUCCESS
    assert broker.codes(1) == [ResponseCode.SUCCESS]
    assert broker.update(b"faults=error\n") == ResponseCode.SUCCESS
    assert broker.codes(1) == [ResponseCode.SYSTEM_ERROR]
    assert broker.settings == b""


def test_a_wrong_fault_is_refused_and_other_settings_reach_the_broker() -> None:
    broker = faulty("busy")
    assert broker.update(b"faults=bussy\n") == ResponseCode.SYSTEM_ERROR
    assert broker.codes(1) == [ResponseCode.SYSTEM_BUSY]
    assert broker.update(b"brokerPermission=4\n") == ResponseCode.SUCCESS
    assert broker.settings == b"brokerPermission=4\n"


def test_the_active_faults_are_shown() -> None:
    broker = faulty("busy:50%,slow:1s")
    shown = broker.handlers[GET](request(GET))
    assert shown is not None
    assert shown.body == b"a=1\nfaults=busy:50%,slow:1000ms:100%\n"
    broker.update(b"faults=none\n")
    shown = broker.handlers[GET](request(GET))
    assert shown is not None
    assert shown.body == b"a=1\nfaults=none\n"


def test_a_server_without_faults_refuses_them() -> None:
    broker = Broker()
    add_refusal(broker)
    response = broker.handlers[UPDATE](request(UPDATE, b"faults=busy\n"))
    assert response is not None
    assert response.code == ResponseCode.SYSTEM_ERROR
    assert response.remark is not None
    assert "--fault none" in response.remark
    assert broker.settings == b""
    assert broker.update(b"brokerPermission=4\n") == ResponseCode.SUCCESS
    assert broker.settings == b"brokerPermission=4\n"

"""A slave requests tables from its master and accepts them from no other peer."""

from __future__ import annotations

import pytest

from reference.core.remoting.effects import Close, Connect, Effect, LogError, Send
from reference.tests.broker.broker_driver import BrokerDriver
from spec.host import Host
from spec.wire.bodies import fastjson
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import RequestCode

NAME_SERVER, MASTER = (Host.of("127.0.0.1", port) for port in (9876, 10911))
LINK, STRANGER = 7, 8
TOPICS = {
    "dataVersion": {"counter": 3, "timestamp": 5, "stateVersion": 1},
    "topicConfigTable": {"Theirs": {"topicName": "Theirs", "readQueueNums": 2}},
}


class Slave(BrokerDriver):
    """A slave that has connected to its master and sent its requests."""

    def __init__(self) -> None:
        super().__init__({"brokerRole": "SLAVE", "brokerId": "1"})
        self.effects: list[Effect] = []
        self.broker.ha.start(self.now_ms)
        self.learn_master(str(MASTER))
        self.effects += self.broker.timer_expired(self.now_ms + 3_000)
        (connect,) = [one for one in self.effects if isinstance(one, Connect)]
        assert connect.address == MASTER
        self.effects = self.broker.connect_completed(connect, LINK, self.now_ms)
        self.broker.connection_made(STRANGER, MASTER)

    def learn_master(self, master: str) -> None:
        """Let a name server report the master's address."""
        self.broker.ha.on_registered(NAME_SERVER, master=master, ha_server="")
        self.effects += self.broker.take_effects()

    def requests(self) -> dict[int, int]:
        """Return the opaque of each question, by its code."""
        sent = [one for one in self.effects if isinstance(one, Send)]
        commands = [decode_command(one.data) for one in sent if one.connection == LINK]
        return {command.code: command.opaque for command in commands}

    def response(self, code: int, body: bytes, *, connection: int = LINK) -> None:
        """Let a response come in."""
        opaque = self.requests()[code]
        frame = encode_command(Command(code=0, opaque=opaque, flag=1, body=body))
        self.effects += self.broker.data_received(connection, frame, self.now_ms)
        self.effects += self.broker.reads_completed(self.now_ms)

    def complaints(self) -> list[str]:
        """Return the texts of the logged errors."""
        return [one.text for one in self.effects if isinstance(one, LogError)]


def tables_of(slave: Slave) -> list[object]:
    """Return the topics and groups of a slave as JSON objects."""
    state = slave.broker.state
    return [state.topics.as_json(), state.groups.as_json()]


def test_the_masters_topics_are_the_slaves() -> None:
    slave = Slave()
    slave.response(RequestCode.GET_ALL_TOPIC_CONFIG, fastjson.dumps(TOPICS))
    assert set(slave.broker.state.topics.table) == {"Theirs"}
    assert slave.broker.state.topics.version() == {"counter": 3, "timestamp": 5}


def test_a_strangers_answer_is_dropped() -> None:
    slave = Slave()
    body = fastjson.dumps(TOPICS)
    slave.response(RequestCode.GET_ALL_TOPIC_CONFIG, body, connection=STRANGER)
    assert "Theirs" not in slave.broker.state.topics.table


@pytest.mark.parametrize("code", sorted(Slave().requests()))
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"dataVersion":1}', b'{"offsetTable":{"T@G":[1]}}']
)
def test_an_answer_that_cannot_be_read_changes_nothing(code: int, body: bytes) -> None:
    slave = Slave()
    before = tables_of(slave)
    slave.response(code, body)
    after = tables_of(slave)
    assert after == before
    is_empty_offsets = code in {
        RequestCode.GET_ALL_CONSUMER_OFFSET,
        RequestCode.GET_ALL_DELAY_OFFSET,
    } and body.startswith(b'{"dataVersion"')
    assert len(slave.complaints()) == int(not is_empty_offsets)


def test_a_master_that_is_elsewhere_is_left() -> None:
    slave = Slave()
    slave.learn_master("127.0.0.1:20911")
    assert [one.connection for one in slave.effects if isinstance(one, Close)] == [LINK]
    slave.learn_master("nowhere")
    assert "no address" in slave.complaints()[-1]


def test_an_unreadable_version_leaves_the_table() -> None:
    slave = Slave()
    before = tables_of(slave)
    body = {**TOPICS, "dataVersion": {"counter": "many", "timestamp": 7}}
    slave.response(RequestCode.GET_ALL_TOPIC_CONFIG, fastjson.dumps(body))
    assert tables_of(slave) == before
    assert len(slave.complaints()) == 1

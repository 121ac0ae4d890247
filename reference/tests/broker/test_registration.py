"""A broker registers with each of its name servers, compressed if configured."""

from __future__ import annotations

from collections.abc import Iterable

from reference.core.remoting.effects import Connect, Effect, Send
from reference.tests.broker.broker_driver import BrokerDriver
from spec.host import Host
from spec.routing.broker_registration import decode_registration
from spec.wire.bodies import fastjson
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import RequestCode

NAME_SERVERS = [Host.of("127.0.0.1", 9876), Host.of("127.0.0.2", 9876)]


def commands_in(effects: Iterable[Effect]) -> dict[int, Command]:
    """Return the last request to each connection."""
    sent = [effect for effect in effects if isinstance(effect, Send)]
    return {effect.connection: decode_command(effect.data) for effect in sent}


def requests_at_start(driver: BrokerDriver) -> dict[int, Command]:
    """Return the first requests of the broker of *driver*, by connection."""
    broker = driver.broker
    broker.start(NAME_SERVERS, driver.now_ms)
    dialled = [e for e in broker.take_effects() if isinstance(e, Connect)]
    assert [one.address for one in dialled] == NAME_SERVERS
    effects = []
    for number, connect in enumerate(dialled):
        effects += broker.connect_completed(connect, number, driver.now_ms)
    return commands_in(effects)


def test_every_name_server_is_told() -> None:
    requests = requests_at_start(BrokerDriver())
    assert list(requests) == [0, 1]
    for command in requests.values():
        assert command.code == RequestCode.REGISTER_BROKER
        assert "TBW102" in decode_registration(command.body).topics.topics


def test_a_registration_is_compressed_if_it_is_to_be() -> None:
    command = requests_at_start(BrokerDriver({"compressedRegister": "true"}))[0]
    assert command.fields["compressed"] == "true"
    body = decode_registration(command.body, compressed=True)
    assert body.topics.topics["TBW102"].permission == 7


def test_all_are_told_goodbye() -> None:
    driver = BrokerDriver()
    requests_at_start(driver)
    driver.broker.stop(driver.now_ms)
    sent = commands_in(driver.broker.take_effects())
    codes = {connection: command.code for connection, command in sent.items()}
    assert codes == dict.fromkeys((0, 1), RequestCode.UNREGISTER_BROKER)


def respond_with_order(
    driver: BrokerDriver, requests: dict[int, Command], *topics: str
) -> dict[int, Command]:
    """Respond to registrations; return the ones that follow, by connection.

    Each name server lists the topic at the number of its connection.
    """
    effects: list[Effect] = []
    for connection, request in requests.items():
        body = fastjson.dumps({"table": {topics[connection]: "a:1"}})
        response = Command(code=0, opaque=request.opaque, flag=1, body=body)
        data = encode_command(response)
        effects += driver.broker.data_received(connection, data, driver.now_ms)
    return commands_in(effects)


def test_one_name_server_decides_which_topics_are_ordered() -> None:
    driver = BrokerDriver()
    topics = driver.broker.state.topics.table
    names = "SELF_TEST_TOPIC", "BenchmarkTest"
    again = respond_with_order(driver, requests_at_start(driver), *names)
    assert respond_with_order(driver, again, *names) == {}
    assert [topics[name].is_ordered for name in names] == [True, False]
    effects = driver.broker.connection_lost(0, driver.now_ms)
    driver.broker.registrations[1].register()
    effects += driver.broker.take_effects()
    respond_with_order(driver, commands_in(effects), *names)
    assert [topics[name].is_ordered for name in names] == [False, True]


def test_a_permission_to_read_write_and_inherit_changes_no_topic() -> None:
    requests = requests_at_start(BrokerDriver({"brokerPermission": "7"}))
    registered = decode_registration(requests[0].body).topics.topics
    assert registered["BenchmarkTest"].permission == 6

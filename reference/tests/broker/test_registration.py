"""A broker registers with each of its name servers, compressed if configured."""

from __future__ import annotations

from reference.core.remoting.effects import Connect, Send
from reference.tests.broker.broker_driver import BrokerDriver
from spec.host import Host
from spec.routing.broker_registration import decode_registration
from spec.wire.remoting.command import Command, decode_command
from spec.wire.remoting.request_code import RequestCode

NAME_SERVERS = [Host.of("127.0.0.1", 9876), Host.of("127.0.0.2", 9876)]


def requests_at_start(driver: BrokerDriver) -> dict[int, Command]:
    """Return the first requests of the broker of *driver*, by connection."""
    broker = driver.broker
    broker.start(NAME_SERVERS, driver.now_ms)
    dialled = [e for e in broker.take_effects() if isinstance(e, Connect)]
    assert [one.address for one in dialled] == NAME_SERVERS
    effects = []
    for number, connect in enumerate(dialled):
        effects += broker.connect_completed(connect, number, driver.now_ms)
    sent = [effect for effect in effects if isinstance(effect, Send)]
    return {effect.connection: decode_command(effect.data) for effect in sent}


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
    sent = [
        effect for effect in driver.broker.take_effects() if isinstance(effect, Send)
    ]
    codes = {effect.connection: decode_command(effect.data).code for effect in sent}
    assert codes == dict.fromkeys((0, 1), RequestCode.UNREGISTER_BROKER)

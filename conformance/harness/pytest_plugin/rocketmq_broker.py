"""
The pytest plugin ``rocketmq_broker``: a broker for the tests of any project.

With this distribution installed, ``def test_mine(rocketmq_broker):`` gets a name server
and a broker, with addresses such as ``rocketmq_broker.namesrv``. They start with the
first such test and serve all tests of the session. They have their own ports and store,
and end with the run in every case. Nothing is loaded earlier.

The broker is a target in the form of ``rmqc test``: the reference, ready in half a
second, or a real release, ``jvm:4.6.0``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.harness.targets.target import Target

TARGET = "rocketmq_broker_target"
SETTINGS = "rocketmq_broker_settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningBroker:
    """A name server and a broker that serve this session."""

    namesrv: str
    """Name server's address for clients, as ``127.0.0.1:9876``."""
    broker: str
    """The broker's own address."""
    name: str
    cluster: str
    store: Path | None
    """The directory of its store; None where that is out of reach."""
    _target: Target = field(repr=False)

    def create_topic(self, topic: str, *, queues: int = 4) -> None:
        """Create a topic, or change how many queues it has."""
        from conformance.harness.client.client import require_success

        with self._target.connect_to_broker() as client:
            require_success(client.create_topic(topic=topic, queue_count=queues))

    def count(self, topic: str, *, queues: int = 4) -> int:
        """Return the number of messages stored in the queues of *topic*."""
        from conformance.harness.client.client import require_success

        with self._target.connect_to_broker() as client:
            ends = [
                require_success(client.max_offset(topic=topic, queue_id=queue_id))
                for queue_id in range(queues)
            ]
        return sum(int(end.fields["offset"]) for end in ends)

    def restart(self) -> None:
        """Stop it in good order and start it again: same ports, same store."""
        self._target.restart()

    def crash(self) -> None:
        """Kill it, as a power cut would, and start it again on what is left."""
        self._target.kill()
        self._target.start()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what a project or a run may choose."""
    parser.addini(
        TARGET,
        "What the fixture rocketmq_broker starts: embedded:, jvm:4.6.0, ...",
        default="embedded:",
    )
    parser.addini(
        SETTINGS,
        "Settings of the fixture rocketmq_broker's broker.conf, key=value lines.",
        type="linelist",
    )
    parser.getgroup("rocketmq").addoption(
        "--rocketmq-broker",
        metavar="TARGET",
        help=f"Target of rocketmq_broker in this run; overrides {TARGET}.",
    )


@pytest.fixture(scope="session")
def rocketmq_broker(request: pytest.FixtureRequest) -> Iterator[RunningBroker]:
    """Give all tests of the session a name server and a broker."""
    from conformance.harness.targets.target import TargetError, parse_target

    config = request.config
    text = config.getoption("--rocketmq-broker") or config.getini(TARGET)
    try:
        target = parse_target(str(text), conf=_settings(config.getini(SETTINGS)))
        with target:
            yield _running(target)
    except TargetError as error:
        pytest.fail(f"rocketmq_broker: {error}", pytrace=False)


@pytest.fixture
def rocketmq_topic(rocketmq_broker: RunningBroker) -> str:
    """Give a test the name of a topic that exists, with 4 queues and no message."""
    from conformance.harness.pytest_plugin.fixtures import unique_name

    topic = unique_name("topic")
    rocketmq_broker.create_topic(topic)
    return topic


def _running(target: Target) -> RunningBroker:
    if target.namesrv is None or target.broker is None:
        pytest.fail(f"rocketmq_broker: no listener at {target.text}", pytrace=False)
    return RunningBroker(
        namesrv=str(target.namesrv),
        broker=str(target.broker),
        name=target.broker_name,
        cluster=target.cluster,
        store=target.store_path,
        _target=target,
    )


def _settings(lines: list[str]) -> dict[str, str]:
    pairs = [line.partition("=") for line in lines]
    wrong = [line for line, (_, sign, _) in zip(lines, pairs, strict=True) if not sign]
    if wrong:
        raise pytest.UsageError(f"{SETTINGS}: {wrong[0]!r} is no key=value")
    return {key.strip(): value.strip() for key, _, value in pairs}

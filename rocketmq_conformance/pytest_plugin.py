"""
The pytest plugin ``rocketmq_broker``: a broker for the tests of any project.

With this distribution installed, ``def test_mine(rocketmq_broker):`` gets a name server
and a broker, with addresses such as ``rocketmq_broker.namesrv``. They start with the
first such test and serve all tests of the session. They have their own ports and store,
and end with the run in every case.

The broker is a target in the form of ``rmqc test``: the reference, ready in half a
second, or a real release, ``jvm:4.6.0``. A process of the project runs it, because a
project under test may have packages with the names of ours. Requests to the process and
its responses are lines of JSON (``conformance.harness.pytest_plugin.rocketmq_broker``).
"""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rocketmq_conformance.paths import module_command

TARGET = "rocketmq_broker_target"
SETTINGS = "rocketmq_broker_settings"
_PROCESS = "conformance.harness.pytest_plugin.rocketmq_broker"


class BrokerError(Exception):
    """The broker could not do what a test needs of it."""


class _BrokerProcess:
    """The process of the project that runs the broker; it ends with our end."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            module_command(_PROCESS),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C reaches pytest, which ends the broker
        )

    def request(self, name: str, **values: object) -> Any:
        """Return the result of a request; raises BrokerError."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"name": name, **values}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            raise BrokerError("the process of the broker has ended")
        response = json.loads(line)
        if "error" in response:
            raise BrokerError(response["error"])
        return response["result"]

    def close(self) -> None:
        """Stop the broker and release its ports and store."""
        self._process.communicate()


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
    """Directory of its store; None if this machine cannot read it."""
    _process: _BrokerProcess = field(repr=False)

    def create_topic(self, topic: str, *, queues: int = 4) -> None:
        """Create a topic, or change the number of its queues."""
        self._process.request("create_topic", topic=topic, queues=queues)

    def count(self, topic: str, *, queues: int = 4) -> int:
        """Return the number of messages stored in the queues of *topic*."""
        return int(self._process.request("count", topic=topic, queues=queues))

    def restart(self) -> None:
        """Stop it in good order and start it again: same ports, same store."""
        self._process.request("restart")

    def crash(self) -> None:
        """Kill it, as a power cut would, and start it again on what is left."""
        self._process.request("crash")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a project and of a run."""
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
    config = request.config
    target = str(config.getoption("--rocketmq-broker") or config.getini(TARGET))
    settings = _settings(config.getini(SETTINGS))
    process = _BrokerProcess()
    try:
        yield _started(process, target, settings)
    finally:
        process.close()


@pytest.fixture
def rocketmq_topic(rocketmq_broker: RunningBroker) -> str:
    """Give a test the name of a topic that exists, with 4 queues and no message."""
    topic = f"topic-{uuid.uuid4().hex[:12]}"
    rocketmq_broker.create_topic(topic)
    return topic


def _started(
    process: _BrokerProcess, target: str, settings: Mapping[str, str]
) -> RunningBroker:
    failure = ""
    try:
        values = process.request("start", target=target, settings=settings)
    except BrokerError as error:
        failure = f"rocketmq_broker: {error}"
    if failure:  # outside of the handler: pytest would print the handled error, too
        pytest.fail(failure, pytrace=False)
    store = values.pop("store")
    return RunningBroker(
        **values, store=Path(store) if store else None, _process=process
    )


def _settings(lines: list[str]) -> dict[str, str]:
    pairs = [line.partition("=") for line in lines]
    wrong = [line for line, (_, sign, _) in zip(lines, pairs, strict=True) if not sign]
    if wrong:
        raise pytest.UsageError(f"{SETTINGS}: {wrong[0]!r} is no key=value")
    return {key.strip(): value.strip() for key, _, value in pairs}

"""What the tests of clients may ask for: the client, a stage, names of its topics."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.client.application import Application
from conformance.client.broker import Broker
from conformance.client.stage import Stage
from conformance.harness.client_adapter import Adapter
from conformance.harness.client_target import ClientTarget
from conformance.harness.fixtures import OPTIONS, need, unique_name
from conformance.harness.live import LiveTarget
from conformance.harness.target import Capability, parse_target


class Launched:
    """The adapter of this worker, started anew when a test has broken it."""

    def __init__(self, target: ClientTarget) -> None:
        self._target = target
        self._adapter: Adapter | None = None

    def adapter(self) -> Adapter:
        """Return a running adapter."""
        if self._adapter is None or not self._adapter.running:
            self.close()
            self._adapter = self._target.launch()
        return self._adapter

    def close(self) -> None:
        """End it."""
        if self._adapter is not None:
            self._adapter.close()
            self._adapter = None


@pytest.fixture(scope="session")
def launched(pytestconfig: pytest.Config, target: LiveTarget) -> Iterator[Launched]:
    """Yield what starts the adapter."""
    need(target, Capability.CLIENT)
    own = parse_target(pytestconfig.stash[OPTIONS].target)
    assert isinstance(own, ClientTarget)
    made = Launched(own)
    yield made
    made.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Yield a name server, and brokers as they are asked for."""
    made = Stage()
    yield made
    made.close()


@pytest.fixture
def application(launched: Launched, stage: Stage) -> Iterator[Application]:
    """Yield the application, whose clients are stopped at the end."""
    adapter = launched.adapter()
    adapter.events.clear()
    said = adapter.hello()
    made = Application(
        adapter=adapter,
        features=frozenset(said.get("features", ())),
        intervals=dict(said.get("intervals", {})),
        stage=stage,
    )
    yield made
    made.close()


@pytest.fixture
def topic() -> str:
    """Return the name of a topic that no other test uses."""
    return unique_name("topic")


@pytest.fixture
def broker(stage: Stage, topic: str) -> Broker:
    """Return a broker that has 4 queues of the topic, as the name server says."""
    stage.route(topic, {"broker-a": 4})
    return stage.broker()

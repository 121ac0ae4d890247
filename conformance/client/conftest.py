"""Fixtures: the client under test, a scripted cluster, topic names."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from conformance.client.application import Application
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.harness.blocked.skips import blocked
from conformance.harness.process.deadline import TooLateError
from conformance.harness.pytest_plugin.fixtures import OPTIONS, need, unique_name
from conformance.harness.targets.client_adapter import Adapter
from conformance.harness.targets.client_target import ClientTarget
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Capability, parse_target
from spec.clause import release_key

FIRST_5X = release_key("5.0.0")
MOST_SILENT_TESTS = 2
"""After so many tests without a response each other test is blocked."""


class SharedAdapter:
    """The adapter of this worker, restarted after a test has broken it."""

    def __init__(self, target: ClientTarget) -> None:
        self.target = target
        self._adapter: Adapter | None = None
        self._silent_tests = 0
        """Tests without a response to their last request, one after the other."""

    def adapter(self) -> Adapter:
        """Return a running adapter that responds; block the test if none responds."""
        is_silent = self._adapter is not None and self._adapter.unanswered > 0
        self._silent_tests = self._silent_tests + 1 if is_silent else 0
        if self._silent_tests >= MOST_SILENT_TESTS:
            count = MOST_SILENT_TESTS
            blocked(f"the adapter has left the requests of {count} tests unanswered")
        if self._adapter is None or is_silent or not self._adapter.running:
            self.close()
            self._adapter = self.target.launch()
        return self._adapter

    def close(self) -> None:
        """Stop the adapter."""
        if self._adapter is not None:
            self._adapter.close()
            self._adapter = None


@pytest.fixture(scope="session")
def shared_adapter(
    pytestconfig: pytest.Config, target: SharedTarget
) -> Iterator[SharedAdapter]:
    """Yield the launcher of the adapter."""
    need(target, Capability.CLIENT)
    own = parse_target(pytestconfig.stash[OPTIONS].target)
    assert isinstance(own, ClientTarget)
    made = SharedAdapter(own)
    yield made
    made.close()


@pytest.fixture
def cluster(
    shared_adapter: SharedAdapter, target: SharedTarget
) -> Iterator[ScriptedCluster]:
    """Yield a cluster of one name server, of the client's major release."""
    is_5x = release_key(target.release) >= FIRST_5X
    made = ScriptedCluster(shared_adapter.target.altered, is_5x=is_5x)
    yield made
    made.close()


@pytest.fixture
def application(
    shared_adapter: SharedAdapter, cluster: ScriptedCluster
) -> Iterator[Application]:
    """Yield the application; its clients are stopped at the end."""
    adapter = shared_adapter.adapter()
    adapter.events.clear()
    greeting = adapter.hello()
    made = Application(
        adapter=adapter,
        first_response=len(adapter.responses),
        features=frozenset(greeting.get("features", ())),
        intervals=dict(greeting.get("intervals", {})),
        cluster=cluster,
    )
    cluster.end_waits(made.has_unsupported_response)
    yield made
    made.close()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """End a test without a verdict that waits for the request of a failed verb.

    The client does not support the verb, or the adapter itself failed.
    """
    try:
        return (yield)
    except TooLateError:
        application = pyfuncitem.funcargs.get("application")
        if isinstance(application, Application):
            application.end_without_verdict()
        raise


@pytest.fixture
def topic() -> str:
    """Return a unique topic name."""
    return unique_name("topic")


@pytest.fixture
def broker(cluster: ScriptedCluster, topic: str) -> ScriptedBroker:
    """Return a broker with 4 queues of the topic."""
    cluster.route(topic, {"broker-a": 4})
    return cluster.broker()

"""
The docker target, on both networks, behaves like the same release on a Java runtime.

It needs a Docker engine on this machine, and an image, which `tox -e docker` provides.
Without an engine, all tests are skipped with that reason.
"""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.client.client import require_success
from conformance.harness.docker.containers import NETWORKS
from conformance.harness.docker.engine import LABEL, Docker, EngineError, connect
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.report.outcome import Outcome
from conformance.harness.targets.started.docker_target import DockerTarget
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import TargetError, parse_target
from conformance.targets.docker.image import base_image, build, build_image
from spec.observed import all_evidence

RELEASE = "4.6.0"
KNOWN = SOURCES / "conformance" / "targets" / "docker" / "known.toml"
SAMPLES = {
    "bridge": ("wire", "messaging/send/test_send.py"),
    "host": (
        "routing/admin/test_name_server.py",
        "messaging/pull/test_pull.py",
        "recovery/damaged_files/test_inventory.py",
    ),
}
"""Some of the suites on each network."""
STARTS = """
import signal, sys
from conformance.harness.targets.target import parse_target
# What runs in the background of a shell would ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
with parse_target("docker:" + sys.argv[1]):
    pass
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[Docker]:
    """Yield the engine of this machine."""
    try:
        engine = connect()
    except EngineError as error:
        pytest.skip(f"THE DOCKER TARGET IS NOT TESTED: {error}")
    with closing(engine):
        yield engine


@pytest.fixture(scope="module")
def image(engine: Docker) -> str:
    """Return an image of the release."""
    return build_image(engine, RELEASE)


@pytest.fixture(scope="module")
def sleeper(engine: Docker) -> Iterator[str]:
    """Yield an image whose name server starts, and never serves."""
    name = unique_name("rmqc/sleeper:run")
    text = f"FROM {base_image(engine)}\nRUN echo 'sleep 1000' > /mqnamesrv\n"
    build(engine, name, io.BytesIO(text.encode()))
    yield name
    engine.images.remove(name, force=True)


def left_over(engine: Docker, owner: str) -> list[str]:
    """Return the names of the containers and networks of *owner*."""
    wanted = {"label": f"{LABEL}={owner}"}
    containers = engine.containers.list(all=True, filters=wanted, sparse=True)
    return [one.id for one in (*containers, *engine.networks.list(filters=wanted))]


@pytest.mark.parametrize("network", NETWORKS)
def test_it_stops_in_order_starts_again_and_leaves_nothing(
    image: str, engine: Docker, network: str
) -> None:
    with parse_target(f"docker:{image}?docker.network={network}") as target:
        assert isinstance(target, DockerTarget)
        assert (target.release, target.broker_name) == (RELEASE, "broker-a")
        topic = create_topic(target, unique_name("kept"))
        with target.connect_to_broker() as broker:
            sent = require_success(broker.send_message(topic=topic, body=b"kept"))
        target.stop()
        assert target.store_path is not None
        assert not (target.store_path / "abort").exists()
        assert b"kept" in (target.store_path / "commitlog" / ("0" * 20)).read_bytes()
        target.start()
        with target.connect_to_broker() as broker:
            require_success(broker.view_message_by_id(sent.fields["msgId"]))
        target.kill()
        assert (target.store_path / "abort").exists()
        owner = target.owner
    assert not target.store_path.exists()
    assert left_over(engine, owner) == []


@pytest.mark.parametrize(("network", "tests"), SAMPLES.items())
def test_the_suites_say_what_they_say_of_the_release_on_a_java_machine(
    image: str, network: str, tests: tuple[str, ...]
) -> None:
    run = run_child(
        [SOURCES / "conformance" / name for name in tests],
        f"--target=docker:{image}?docker.network={network}",
        f"--known={KNOWN}",
        timeout_s=900,
    )
    assert run.outcomes, run.output
    outcomes_of_run = {
        Outcome.PASS,
        Outcome.FAIL,
        Outcome.ERROR,
        Outcome.NOT_APPLICABLE,
    }
    recorded = all_evidence()[RELEASE].outcomes
    differ = {
        name: (outcome.value, recorded[name])
        for name, outcome in run.outcomes.items()
        if outcome in outcomes_of_run
        and name in recorded
        and outcome.value != recorded[name]
    }
    assert differ == {}
    assert list(run.outcomes.values()).count(Outcome.PASS) >= 25


def test_after_a_failed_start_the_logs_are_told_and_kept(
    engine: Docker, tmp_path: Path
) -> None:
    text = f"docker:{base_image(engine)}?docker.logs={tmp_path}"
    with pytest.raises(TargetError, match=r"namesrv .* ended with \d+ before"):
        parse_target(text).__enter__()
    kept = "\n".join(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    assert "mqnamesrv" in kept
    owners = {path.name.partition("-")[0] for path in tmp_path.iterdir()}
    assert [left_over(engine, owner) for owner in owners] == [[]]


def test_an_image_that_cannot_be_had_is_one_line(engine: Docker) -> None:
    del engine
    with pytest.raises(TargetError, match="cannot be pulled") as refused:
        parse_target("docker:localhost:1/none:1").__enter__()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_container(
    sleeper: str, engine: Docker, number: signal.Signals
) -> None:
    command = [sys.executable, "-c", STARTS, sleeper]
    owners: list[str] = []

    def has_started() -> bool:
        of_image = {"ancestor": sleeper, "status": "running"}
        found = engine.containers.list(filters=of_image, sparse=True)
        owners.extend(one.attrs["Labels"][LABEL] for one in found)
        return bool(owners)

    with subprocess.Popen(command, cwd=SOURCES, stderr=subprocess.DEVNULL) as run:
        wait_until(has_started, what="the run has started a container", timeout_s=60)
        run.send_signal(number)
        run.wait(60)
    wait_until(
        lambda: not left_over(engine, owners[0]), what="all is removed", timeout_s=60
    )

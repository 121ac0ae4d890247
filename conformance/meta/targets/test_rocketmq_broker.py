"""The plugin ``rocketmq_broker`` gives the tests of any project a broker."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint

import pytest

from conformance.harness.targets.started.embedded import SOURCES
from conformance.interop.tools.installed_wheel import ROOMS
from rocketmq_conformance import pytest_plugin

pytest_plugins = ["pytester"]

WORDS = (
    # As from an environment where it is not installed, and then loaded by hand.
    *(
        "-p",
        "no:rocketmq_broker",
        "-p",
        "rocketmq_conformance.pytest_plugin",
    ),
    *("-p", "no:cacheprovider"),
)
PEER = """
from rocketmq_conformance.paths import add_to_path

add_to_path()
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success

def send(broker, topic, body):
    with Client.connect(Address.parse(broker.broker)) as client:
        require_success(client.send_message(topic=topic, queue_id=0, body=body))
"""


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Run pytest as a project would, in a process of its own."""
    return pytester.runpytest_subprocess(*WORDS, *words, timeout=300)


def test_two_lines_are_enough(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_a_broker_serves(rocketmq_broker):
            assert rocketmq_broker.namesrv.startswith("127.0.0.1:")
        """
    )
    run(pytester).assert_outcomes(passed=1)


def test_packages_of_a_project_may_have_our_names(pytester: pytest.Pytester) -> None:
    for name in ROOMS:
        folder = pytester.mkpydir(name)
        (folder / "__init__.py").write_text(f"raise ImportError({name!r})\n")
    pytester.makepyfile(
        """
        def test_it(rocketmq_broker, rocketmq_topic):
            rocketmq_broker.restart()
            assert rocketmq_broker.count(rocketmq_topic) == 0
        """
    )
    run(pytester).assert_outcomes(passed=1)


def test_one_broker_serves_all_tests_and_ends_with_them(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        peer=PEER,
        test_first="""
        from pathlib import Path
        from peer import send

        def test_one(rocketmq_broker, rocketmq_topic):
            send(rocketmq_broker, rocketmq_topic, b"one")
            assert rocketmq_broker.count(rocketmq_topic) == 1
            Path("seen").write_text(f"{rocketmq_broker.broker} {rocketmq_broker.store}")
        """,
        test_second="""
        from pathlib import Path

        def test_two(rocketmq_broker, rocketmq_topic):
            address, _ = Path("seen").read_text().split()
            assert rocketmq_broker.broker == address
            assert rocketmq_broker.count(rocketmq_topic) == 0
        """,
    )
    run(pytester).assert_outcomes(passed=2)
    _, store = (pytester.path / "seen").read_text().split()
    assert not pytester.path.joinpath(store).exists()


def test_messages_outlive_a_restart_and_a_crash(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        peer=PEER,
        test_it="""
        from peer import send

        def test_it(rocketmq_broker, rocketmq_topic):
            send(rocketmq_broker, rocketmq_topic, b"one")
            rocketmq_broker.restart()
            send(rocketmq_broker, rocketmq_topic, b"two")
            rocketmq_broker.crash()
            assert rocketmq_broker.count(rocketmq_topic) == 2
        """,
    )
    run(pytester).assert_outcomes(passed=1)


def test_a_project_chooses_settings_of_the_broker(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        "[pytest]\nrocketmq_broker_settings =\n  brokerName=mine\n"
        "  brokerClusterName = ours\n"
    )
    pytester.makepyfile(
        """
        def test_it(rocketmq_broker):
            assert (rocketmq_broker.name, rocketmq_broker.cluster) == ("mine", "ours")
        """
    )
    run(pytester).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("ini", "words", "message"),
    [
        (
            "",
            ("--rocketmq-broker", "nobody"),
            "*rocketmq_broker: 'nobody' is not a target; *",
        ),
        ("rocketmq_broker_settings = odd", (), "*'odd' is no key=value*"),
    ],
)
def test_what_cannot_be_started_is_said_in_a_line(
    pytester: pytest.Pytester, ini: str, words: tuple[str, ...], message: str
) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    pytester.makepyfile("def test_it(rocketmq_broker): pass")
    result = run(pytester, *words)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*another exception occurred*")


def test_nothing_is_loaded_before_a_test_asks(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it():
            loaded = {name.partition(".")[0] for name in sys.modules}
            assert not loaded & {"conformance", "spec", "construct", "click"}
        """
    )
    run(pytester).assert_outcomes(passed=1)


def test_it_is_an_entry_point_of_the_distribution() -> None:
    project = tomllib.loads((SOURCES / "pyproject.toml").read_text(encoding="utf-8"))
    ((name, value),) = project["project"]["entry-points"]["pytest11"].items()
    assert name == "rocketmq_broker"
    entry = EntryPoint(name=name, value=value, group="pytest11")
    assert entry.load() is pytest_plugin

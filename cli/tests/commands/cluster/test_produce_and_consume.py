"""``rmqc produce`` and ``rmqc consume`` at a running reference broker."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from cli.commands.cluster import consume as consuming
from cli.main import main
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.target import Target, parse_target
from rocketmq_conformance.paths import module_command

TIMEOUT_S = 60.0


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """Yield a started broker with its name server."""
    with parse_target("embedded:") as target:
        yield target


@pytest.fixture
def topic(target: Target) -> str:
    """Return a topic of four queues."""
    return create_topic(target, unique_name("commands"))


def run(target: Target, command: str, *words: str) -> tuple[int, str, str]:
    """Return exit code, output and errors of a command."""
    given = module_command("cli", command, "-n", str(target.namesrv), *words)
    done = subprocess.run(
        given, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_the_ids_of_a_message_have_names(target: Target, topic: str) -> None:
    code, output, _ = run(target, "produce", topic, "a body", "--queue", "3")
    words = output.split()
    assert (code, words[:6]) == (
        0,
        ["SEND_OK", words[1], "queue", "3", "offset", "0"],
    )
    assert words[6::2] == ["msgId", "offsetMsgId"]


def test_a_queue_that_the_topic_lacks_is_refused(target: Target, topic: str) -> None:
    code, output, errors = run(target, "produce", topic, "a body", "--queue", "4")
    assert (code, output) == (1, "")
    assert errors.endswith("--queue 4: the topic has 4 queues, from 0 on\n")


@pytest.mark.parametrize(
    ("words", "system_topic"),
    [
        (("--delay-level", "1"), "SCHEDULE_TOPIC_XXXX"),
        (("--property", "DELAY=1"), "SCHEDULE_TOPIC_XXXX"),
        (("--transaction", "commit"), "RMQ_SYS_TRANS_HALF_TOPIC"),
    ],
)
def test_an_offset_in_a_system_topic_names_it(
    target: Target, topic: str, words: tuple[str, ...], system_topic: str
) -> None:
    code, output, _ = run(target, "produce", topic, "a body", *words)
    place, _, ids = output.partition(f" in {system_topic} ")
    assert (code, place.split()[-2]) == (0, "offset")
    assert ids.startswith("msgId ")


def test_a_consumer_of_no_message_prints_the_reason(target: Target, topic: str) -> None:
    words = ("--count", "1", "--idle-s", "1", "--expression", "(((", topic)
    assert run(target, "consume", *words) == (
        1,
        "",
        f"0 of 1 messages of {topic} for the group rmqc_consumer and the expression"
        " '(((', then none for 1 s\n",
    )


def test_a_consumer_of_an_unknown_topic_prints_the_reason(target: Target) -> None:
    code, output, errors = run(target, "consume", "--idle-s", "1", "NoTopic")
    assert (code, output) == (0, "")
    assert errors == "the topic NoTopic has no route\n"


@pytest.mark.parametrize("command", ["produce", "consume"])
@pytest.mark.parametrize("address", ["localhost", "localhost:", "a:1;b", ":9876"])
def test_an_address_without_a_port_is_a_usage_error(command: str, address: str) -> None:
    result = CliRunner().invoke(main, [command, "-n", address, "T"])
    assert result.exit_code == 2
    assert " has no port, as " in result.output


def test_a_name_server_without_a_response_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consuming, "ROUTE_WAIT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        words = ["consume", "-n", address, "T", "--count", "1", "--idle-s", "1"]
        ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 1
    assert ended.stderr.startswith(
        f"no route of the topic T from the name server {address}; trying again every"
    )


def test_the_characters_of_a_topic_include_upper_case(target: Target) -> None:
    code, _, errors = run(target, "produce", "Or ders", "a body")
    assert code == 1
    assert errors.endswith("has other characters than A-Za-z0-9%|_-\n")

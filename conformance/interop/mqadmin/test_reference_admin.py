"""
``rmqc admin`` prints a message like the real mqadmin.

Both query the same broker. Every line is the same, except for the file into which
mqadmin writes the body.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from conformance.harness.client.client import (
    Client,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.java.client import JavaClient
from conformance.interop.mqadmin.tool import AdminTool, admin_tool
from rocketmq_conformance.paths import module_command

TOPIC = "OwnAdmin"
UNIQUE_KEY = "7F000001A8B018B4AAC216D2D4BF0000"
NOT_OURS = "Message Body Path:"


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """Yield a broker with a message that one group has read, and another has not."""
    with parse_target("embedded:") as started, started.connect_to_broker() as broker:
        require_success(broker.create_topic(topic=TOPIC, queue_count=2))
        for number in range(3):
            unique_key = UNIQUE_KEY[:-1] + str(number)
            properties = {"KEYS": "one both", "TAGS": "A", "UNIQ_KEY": unique_key}
            properties |= {f"own{n}": f"value {n}" for n in range(12)}
            sent = broker.send_message(topic=TOPIC, body=b"text", properties=properties)
            require_success(sent)
        broker.wait_for_max_offset(topic=TOPIC, offset=3)
        with Client.connect(broker.address) as member:
            for offset, group in enumerate(("far_group", "near_group")):
                join(member, group)
                commit(broker, group, offset + 1)
            # mqadmin finds a group's broker by the topic of its retries.
            require_success(
                broker.create_topic(topic="%RETRY%gone_group", queue_count=1)
            )
            commit(broker, "gone_group", 1)
            yield started


def commit(broker: Client, group: str, offset: int) -> None:
    """Let a group be this far."""
    require_success(broker.update_offset(group=group, topic=TOPIC, offset=offset))


def join(member: Client, group: str) -> None:
    """Become a member of a group with a subscription to the tag A."""
    subscription = subscription_data(topic=TOPIC, expression="A", tags=["A"])
    data = consumer_data(group=group, subscriptions=[subscription])
    require_success(member.heartbeat(client_id=f"{group}@1", consumers=[data]))


@pytest.fixture(scope="module")
def mqadmin(
    target: Target, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AdminTool]:
    """Yield the real tool."""
    assert target.namesrv is not None
    client = JavaClient(
        release="4.6.0",
        namesrv=target.namesrv,
        directory=tmp_path_factory.mktemp("mqadmin"),
    )
    with admin_tool(client) as tool:
        yield tool


def own_lines(target: Target, *words: str) -> list[str]:
    """Return the output of ``rmqc admin``."""
    command, *rest = words
    ended = subprocess.run(
        module_command("cli", "admin", command, "-n", str(target.namesrv), *rest),
        cwd=SOURCES,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return [line for line in ended.stdout.splitlines() if line]


def run_admin(*words: str) -> subprocess.CompletedProcess[str]:
    """Run ``rmqc admin``."""
    return subprocess.run(
        module_command("cli", "admin", *words),
        cwd=SOURCES,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def commands(target: Target) -> Iterator[tuple[str, ...]]:
    """Yield the four kinds of message queries."""
    with target.connect_to_broker() as broker:
        first = broker.pull(topic=TOPIC, offset=0, max_count=1)
    assert first.code == 0
    yield "queryMsgByKey", "-t", TOPIC, "-k", "both"
    yield "queryMsgByUniqueKey", "-t", TOPIC, "-i", UNIQUE_KEY
    for offset in ("0", "2"):
        place = ("-b", target.broker_name, "-i", "0", "-o", offset)
        yield "queryMsgByOffset", "-t", TOPIC, *place


def split(lines: list[str]) -> list[str]:
    """Return lines with one message track each, without the body's file."""
    kept = (line for line in lines if not line.startswith(NOT_OURS))
    apart = (line.replace("]Message", "]\nMessage") for line in kept)
    rows = [row for line in apart for row in line.splitlines()]
    tracks = sorted(row for row in rows if row.startswith("MessageTrack"))
    return [row for row in rows if not row.startswith("MessageTrack")] + tracks


def test_every_way_to_look_for_a_message_shows_the_same(
    target: Target, mqadmin: AdminTool
) -> None:
    for words in commands(target):
        theirs = split(mqadmin.run(*words))
        assert len(theirs) > 2, words
        assert split(own_lines(target, *words)) == theirs, words


def test_an_offset_id_shows_the_same(target: Target, mqadmin: AdminTool) -> None:
    place = ("-t", TOPIC, "-b", target.broker_name, "-i", "0", "-o", "1")
    offset_line = own_lines(target, "queryMsgByOffset", *place)[0]
    words = ("queryMsgById", "-i", offset_line.split()[-1])
    theirs = split(mqadmin.run(*words))
    assert split(own_lines(target, *words)) == theirs


def test_what_cannot_be_found_is_one_line(target: Target) -> None:
    place = ("-n", str(target.namesrv), "-t", TOPIC)
    ended = run_admin("queryMsgByUniqueKey", *place, "-i", "NOSUCHKEY")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "the message does not exist\n"

"""
The reference's own clients, ``rmqc produce`` and ``rmqc consume``, at real brokers.

They run as commands. Tests compare their output and the broker's content. With ``-k
embedded`` they use the reference broker alone.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.process.process import start
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.programs.rmqc_clients import DEADLINE_S, RmqcClients, lines_of
from spec.store.message_record import SystemFlag, decode_records

TARGETS = ("embedded:", "jvm:4.6.0", "jvm:5.3.3")
SOON = "transactionCheckInterval=1000&transactionTimeOut=1000"
"""By default, a check of an undecided message follows after a minute."""
QUEUES = range(4)


@pytest.fixture(scope="module", params=TARGETS)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Yield a cluster of each kind."""
    with parse_target(f"{request.param}?{SOON}") as started:
        yield started


@pytest.fixture
def clients(target: Target, tmp_path: Path) -> RmqcClients:
    """Return the commands at the cluster."""
    return RmqcClients(target, tmp_path)


@pytest.fixture
def broker(target: Target) -> Iterator[Client]:
    """Yield a connection to the broker."""
    with target.connect_to_broker() as client:
        yield client


@pytest.fixture
def topic(broker: Client) -> str:
    """Return a topic of four queues."""
    name = unique_name("own_client")
    require_success(broker.create_topic(topic=name, queue_count=len(QUEUES)))
    return name


@pytest.fixture
def group() -> str:
    """Return a unique group name."""
    return unique_name("own_group")


@pytest.mark.parametrize("mode", ["sync", "async", "oneway", "batch"])
def test_what_is_sent_in_any_mode_is_read_once(
    clients: RmqcClients, topic: str, group: str, mode: str
) -> None:
    bodies = [f"{mode}-{number}" for number in range(12)]
    sent = clients.produce(topic, "--mode", mode, *bodies)
    assert len(sent) == (1 if mode == "batch" else len(bodies))
    read = clients.consume(topic, len(bodies), "-g", group)
    assert Counter(line.body for line in read) == Counter(bodies)
    if mode in {"sync", "async"}:
        assert {line.queue for line in read} == set(QUEUES)
        assert {text.split(" ")[7] for text in sent} == {m.message_id for m in read}


def test_a_topic_is_made_by_the_first_message(clients: RmqcClients, group: str) -> None:
    name = unique_name("made_by_message")
    sent = clients.produce(name, "one", "two")
    assert all(line.startswith("SEND_OK") for line in sent)
    child = clients.start(
        "consume",
        "--from",
        "first",
        "--count",
        "2",
        "--idle-s",
        "60",
        "-g",
        group,
        name,
    )
    assert child.wait_end(deadline_s=DEADLINE_S) == 0, child.output()


def test_a_chosen_queue_is_kept(clients: RmqcClients, topic: str) -> None:
    sent = clients.produce(topic, "--queue", "2", "--count", "5", "x")
    assert [line.split(" ")[3:6] for line in sent] == [
        ["2", "offset", str(number)] for number in range(5)
    ]


def test_a_large_body_travels_compressed(
    clients: RmqcClients, broker: Client, topic: str, group: str
) -> None:
    body = "large" * 2000
    clients.produce(topic, "--queue", "0", body)
    (line,) = clients.consume(topic, 1, "-g", group)
    assert line.body == body
    (record,) = decode_records(require_success(broker.pull(topic=topic, offset=0)).body)
    assert record.system_flags & SystemFlag.COMPRESSED
    assert len(record.body) < len(body)


def test_only_the_tags_that_are_wanted_come(
    clients: RmqcClients, topic: str, group: str
) -> None:
    for tag in "Aa", "BB", "C":  # the first two have the same hash
        clients.produce(topic, "--tag", tag, f"tag-{tag}")
    read = clients.consume(topic, 2, "-g", group, "--expression", "Aa || C")
    assert {line.body for line in read} == {"tag-Aa", "tag-C"}


def test_a_group_goes_on_where_it_was(
    clients: RmqcClients, topic: str, group: str
) -> None:
    clients.produce(topic, "a", "b")
    clients.consume(topic, 2, "-g", group)
    clients.produce(topic, "c")
    assert [line.body for line in clients.consume(topic, 1, "-g", group)] == ["c"]


def test_two_members_share_the_queues(
    clients: RmqcClients, topic: str, group: str
) -> None:
    given = ("--from", "first", "-g", group, topic)
    members = [clients.start("consume", *given) for _ in range(2)]
    sent = list[str]()

    def both_read() -> bool:
        body = f"shared-{len(sent)}"
        sent.append(body)
        clients.produce(topic, "--count", str(len(QUEUES)), body)
        owned = [{line.queue for line in lines_of(one)[-4:]} for one in members]
        return all(owned) and not owned[0] & owned[1]

    try:
        wait_until(both_read, what="two members read queues of their own", timeout_s=60)
        wait_until(
            lambda: (
                {line.body for one in members for line in lines_of(one)} == set(sent)
            ),
            what="all that was sent is read",
            timeout_s=60,
        )
    finally:
        for one in members:
            one.kill()


def test_what_is_handed_back_comes_again(
    clients: RmqcClients, topic: str, group: str
) -> None:
    clients.produce(topic, "difficult")
    clients.consume(topic, 1, "-g", group, "--fail")
    (again,) = clients.consume(topic, 1, "-g", group)
    assert again.body == "difficult"


def test_a_queue_is_read_in_order(clients: RmqcClients, topic: str, group: str) -> None:
    bodies = [f"step-{number}" for number in range(8)]
    clients.produce(topic, "--queue", "1", *bodies)
    first = clients.consume(topic, 5, "-g", group, "--in-order")
    rest = clients.consume(topic, 3, "-g", group, "--in-order")
    assert [line.body for line in (*first, *rest)] == bodies


def test_the_vip_port_takes_messages(clients: RmqcClients, topic: str) -> None:
    (line,) = clients.produce(topic, "--vip", "x")
    assert line.startswith("SEND_OK")


@pytest.mark.parametrize("decision", ["commit", "rollback"])
def test_a_transaction_is_read_only_when_it_is_committed(
    clients: RmqcClients, topic: str, group: str, decision: str
) -> None:
    clients.produce(topic, "--transaction", decision, decision)
    clients.produce(topic, "after")
    wanted = {"after", "commit"} if decision == "commit" else {"after"}
    read = clients.consume(topic, len(wanted), "-g", group)
    assert {line.body for line in read} == wanted


def test_an_undecided_transaction_is_asked_about(
    clients: RmqcClients, topic: str, group: str
) -> None:
    sent = clients.produce(topic, "-g", f"p{group}", "--transaction", "checked", "late")
    assert [line.split(" ")[-1] for line in sent] == ["UNKNOWN", "COMMIT"]
    (line,) = clients.consume(topic, 1, "-g", group)
    assert line.body == "late"


def test_the_program_of_the_quick_start_runs(
    clients: RmqcClients, broker: Client, tmp_path: Path
) -> None:
    text = (SOURCES / "docs" / "client.md").read_text(encoding="utf-8")
    program = tmp_path / "quick_start.py"
    program.write_text(text.partition("```python\n")[2].partition("```")[0])
    require_success(broker.create_topic(topic="Orders", queue_count=1))
    child = start(
        "quick start",
        [sys.executable, program],
        log=tmp_path / "quick_start.log",
        environment={
            "NAMESRV_ADDR": str(clients.target.namesrv),
            "PYTHONPATH": str(SOURCES),
        },
    )
    assert child.wait_end(deadline_s=DEADLINE_S) == 0, child.output()
    assert "SEND_OK" in child.output()
    assert "b'two eggs'" in child.output()

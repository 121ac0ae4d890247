"""
Scene in which every sub-command of mqadmin runs, the same at each target.

It has messages with keys and tags, a real Java consumer, producers, and offsets behind
the end. A member of one group only sends heartbeats. A value that only one
target has, such as its address, is replaced by a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from conformance.harness.client.client import (
    Client,
    body_of,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.process.process import Child
from conformance.harness.targets.target import Target
from conformance.interop.java.client import ADMIN_CLASS, JavaClient
from conformance.interop.mqadmin import steps
from conformance.interop.mqadmin.columns import anonymous
from conformance.interop.mqadmin.tool import AdminTool, admin_tool
from conformance.interop.programs.program_output import received_messages
from spec.wire.bodies import fastjson
from spec.wire.remoting.request_code import RequestCode

UNIQUE_KEY = "7F00000100000000000000000000{:04X}"
"""It begins with 127.0.0.1: the tool first takes it for the address of a broker."""
BORN_MS = 1_577_836_800_000
MONITOR_LOG = "logs/rocketmqlogs/rocketmq_client.log"
MONITORED = "[MONITOR] "
TOOLS_GROUPS = ("TOOLS_CONSUMER", "scene_reader", "__MONITOR_CONSUMER")
"""Groups of the tool: whether their first heartbeat comes in time is up to a clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One target, its tool, and the words for its own values."""

    target: Target
    broker: Client
    tool: AdminTool
    words: dict[str, str] = field(default_factory=dict)
    """Value at the target for each word of a step."""
    shown: dict[str, str] = field(default_factory=dict)
    """Word for each value in the target's output."""
    consumers: list[Child] = field(default_factory=list)
    """The quick start's Consumer, once it has been started."""

    def run(self, step: Sequence[str]) -> list[str]:
        """Take one step; return the lines that it prints."""
        words = [self._filled(word) for word in step]
        if words[0] == steps.QUERY:
            lines = [self._table(RequestCode[words[1]])]
        elif words[0] == "startMonitoring":
            lines = self._monitored()
        elif words[0] in steps.FOREVER:
            lines = self._first_lines(words)
        elif words[0] == "resetOffsetByTime" and steps.LIVE_GROUP in words:
            lines = self._after_reset(words)
        else:
            lines = self.tool.run(*words)
        port = self.target.broker.port if self.target.broker else 0
        lines = [line.replace(f"7F000001{port:08X}", "ID:") for line in lines]
        return anonymous(lines, self.shown)

    def _filled(self, word: str) -> str:
        return ",".join(self.words.get(part, part) for part in word.split(","))

    def _table(self, code: RequestCode) -> str:
        return fastjson.dumps(body_of(self.broker.invoke(code))).decode()

    def _apart(self, words: Sequence[str]) -> Child:
        whole = [words[0], "-n", str(self.target.namesrv), *words[1:]]
        return self.tool.client.run(ADMIN_CLASS, whole)

    def _first_lines(self, words: Sequence[str]) -> list[str]:
        """Run a command that does not end until it has printed its first row."""
        child = self._apart(words)
        count = 1 if "-p" in words else 2
        try:
            child.wait_until(
                lambda: len(self._lines(child)) >= count, what="row of the first round"
            )
            return self._lines(child)
        finally:
            child.kill()

    @staticmethod
    def _lines(child: Child) -> list[str]:
        whole = child.output().rpartition("\n")[0].splitlines()
        return [line for line in whole if line and "|-" not in line]

    def _after_reset(self, words: Sequence[str]) -> list[str]:
        """Reset the Java consumer, and wait until it has read its messages again."""
        (consumer,) = self.consumers
        before = len(received_messages(consumer.output()))
        lines = self.tool.run(*words)
        consumer.wait_until(
            lambda: len(received_messages(consumer.output())) >= before + 2,
            what="messages that are read again",
        )
        return lines

    def _monitored(self) -> list[str]:
        """Let the monitor do one round; return what it notes of the scene's groups."""
        log = self.tool.client.directory / MONITOR_LOG
        child = self._apart(["startMonitoring"])
        try:
            child.wait_until(
                lambda: log.exists() and "=endRound" in log.read_text("utf-8"),
                what="end of the monitor's first round",
            )
        finally:
            child.kill()
        found = log.read_text("utf-8").splitlines()
        notes = [line.partition(MONITORED)[2] for line in found if MONITORED in line]
        return [line for line in notes if not any(g in line for g in TOOLS_GROUPS)]


@contextmanager
def scene(target: Target, directory: Path) -> Iterator[Scene]:
    """Prepare the scene at *target*, which has been started."""
    assert target.namesrv is not None
    client = JavaClient(release="4.6.0", namesrv=target.namesrv, directory=directory)
    with ExitStack() as ending:
        broker = ending.enter_context(target.connect_to_broker())
        member = ending.enter_context(target.connect_to_broker())
        tool = ending.enter_context(admin_tool(client))
        made = Scene(target=target, broker=broker, tool=tool)
        _name_addresses(made, member)
        _send_messages(made)
        _join_groups(made, member)
        made.consumers.append(client.run_example("Consumer"))
        ending.callback(made.consumers[0].kill)
        _wait_for_consumer(made)
        yield made


def _name_addresses(made: Scene, member: Client) -> None:
    broker, namesrv = made.target.broker, made.target.namesrv
    assert broker is not None
    assert namesrv is not None
    made.words["BROKER"] = str(broker)
    vip, replication = broker.port - 2, broker.port + 1
    made.shown.update(
        {
            str(broker): "BROKER",
            f"{broker.host}:{vip}": "BROKER-VIP",
            f"{broker.host}:{replication}": "BROKER-HA",
            str(namesrv): "NAME-SERVER",
            str(made.broker.peer.local_address): "SENDER",
            str(member.peer.local_address): "MEMBER",
            str(namesrv.port): "PORT",
            str(broker.port): "BROKER-PORT",
            str(vip): "VIP-PORT",
            str(replication): "HA-PORT",
        }
    )


def _send_messages(made: Scene) -> None:
    """Five messages in two queues of the scene's topic, one and two in the others."""
    for topic, count in ((steps.SCENE, 2), (steps.SINGLE, 1), (steps.LIVE_TOPIC, 1)):
        require_success(made.broker.create_topic(topic=topic, queue_count=count))
    for number, queue_id in enumerate((0, 0, 1, 0, 1)):
        _send(made, steps.SCENE, f"ID-{number}", queue_id=queue_id)
    made.words["UNIQUE-0"] = UNIQUE_KEY.format(0)
    _send(made, steps.SINGLE, "SINGLE-ID")
    _send(made, steps.LIVE_TOPIC, "LIVE-ID")
    _send(made, steps.LIVE_TOPIC, "LIVE-ID-2")
    for topic, queue_id, offset in (
        (steps.SCENE, 0, 3),
        (steps.SCENE, 1, 2),
        (steps.SINGLE, 0, 1),
        (steps.LIVE_TOPIC, 0, 2),
    ):
        made.broker.wait_for_max_offset(topic=topic, queue_id=queue_id, offset=offset)


def _send(made: Scene, topic: str, word: str, *, queue_id: int = 0) -> None:
    """Send a message; *word* stands for the id that it gets."""
    number = len(made.words)
    properties = {
        "KEYS": f"key{number} both",
        "UNIQ_KEY": UNIQUE_KEY.format(number - 1),
        "WAIT": "true",
        "TAGS": "AB"[number % 2],
    }
    response = made.broker.send_message(
        topic=topic,
        queue_id=queue_id,
        body=f"body of {word}".encode(),
        properties=properties,
        born_at_ms=BORN_MS,
    )
    made.words[word] = require_success(response).fields["msgId"]


def _join_groups(made: Scene, member: Client) -> None:
    """Join as a member that reads two tags, as producers; commit behind the ends."""
    for group in TOOLS_GROUPS:
        with Client.connect(made.broker.address) as passing:
            data = consumer_data(group=group)
            require_success(passing.heartbeat(client_id="passing@1", consumers=[data]))
    subscription = subscription_data(
        topic=steps.SCENE, expression="A || B", tags=["A", "B"]
    )
    data = consumer_data(group=steps.GROUP, subscriptions=[subscription])
    joined = member.heartbeat(
        client_id="member@1", consumers=[data], producer_groups=[steps.PRODUCERS]
    )
    require_success(joined)
    for queue_id, offset in ((0, 1), (1, 2)):
        made.broker.update_offset(
            group=steps.GROUP, topic=steps.SCENE, queue_id=queue_id, offset=offset
        )


def _wait_for_consumer(made: Scene) -> None:
    """Wait until the Java consumer has committed; learn who and where it is."""
    group, topic = steps.LIVE_GROUP, steps.LIVE_TOPIC
    made.consumers[0].wait_until(
        lambda: (
            made.broker.query_offset(group=group, topic=topic).fields.get("offset")
            == "2"
        ),
        what="commit of the Java consumer",
    )
    body = cast(
        "dict[str, list[dict[str, str]]]",
        body_of(made.broker.consumer_connections(group=group)),
    )
    (connection,) = body["connectionSet"]
    made.words["CLIENT"] = connection["clientId"]
    made.shown[connection["clientAddr"]] = "CLIENT-ADDRESS"
    made.shown[connection["clientId"]] = "CLIENT"
    address = connection["clientId"].partition("@")[0]
    made.shown[address] = "CLIENT-HOST"

"""
mqadmin of 4.6.0 finds topics, routes and messages at the reference.

The first command is a Java program, as an operator starts it. The others run in one
Java process.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.java.client import JavaClient
from conformance.interop.mqadmin.tool import AdminTool, admin_tool

TARGETS = ("embedded:", "jvm:4.6.0")
TOPIC, GROUP, KEY = "AdminTopic", "admin_group", "order-7"
UNIQUE_KEY = "7F0000010000000000000000ABCDEF01"
"""It begins with 127.0.0.1: the tool first takes it for the address of a broker."""


@pytest.mark.parametrize("text", TARGETS)
def test_mqadmin_shows_topics_routes_and_messages(text: str, tmp_path: Path) -> None:
    with parse_target(text) as target:
        assert target.namesrv is not None
        client = JavaClient(release="4.6.0", namesrv=target.namesrv, directory=tmp_path)
        cluster = ("-c", target.cluster)
        topic = ("-t", TOPIC, "-r", "2", "-w", "2")
        created = client.admin("updateTopic", *cluster, *topic)
        assert f"create topic to {target.broker} success." in created
        message_id = send_one(target)

        with admin_tool(client) as tool:
            assert TOPIC in tool.run("topicList")
            assert '"writeQueueNums":2' in "".join(tool.run("topicRoute", "-t", TOPIC))
            assert rows(tool.run("topicStatus", "-t", TOPIC)) == {
                ("broker-a", "0", "0", "1"),
                ("broker-a", "1", "0", "0"),
            }
            assert f"{target.broker}" in "\n".join(tool.run("clusterList"))
            check_lookups(tool, message_id)
            has_group = tool.run("updateSubGroup", *cluster, "-g", GROUP)
            assert "success" in "\n".join(has_group)
            deleted = tool.run("deleteTopic", *cluster, "-t", TOPIC)
            assert "success" in "\n".join(deleted)
            assert TOPIC not in tool.run("topicList")


def check_lookups(tool: AdminTool, message_id: str) -> None:
    """Check that each kind of query finds the message."""
    topic = ("-t", TOPIC)
    by_id = tool.run("queryMsgById", "-i", message_id)
    assert field(by_id, "OffsetID") == message_id
    assert field(by_id, "Keys") == f"[{KEY}]"
    assert UNIQUE_KEY in "\n".join(tool.run("queryMsgByKey", *topic, "-k", KEY))
    by_unique_key = tool.run("queryMsgByUniqueKey", *topic, "-i", UNIQUE_KEY)
    assert field(by_unique_key, "CommitLog Offset") == field(by_id, "CommitLog Offset")
    place = ("-b", "broker-a", "-i", "0", "-o", "0")
    by_offset = tool.run("queryMsgByOffset", *topic, *place)
    assert field(by_offset, "OffsetID") == message_id


def send_one(target: Target) -> str:
    """Send the message of the queries; return its offset id."""
    assert target.broker is not None
    properties = {"KEYS": KEY, "UNIQ_KEY": UNIQUE_KEY, "WAIT": "true", "TAGS": "T"}
    with Client.connect(target.broker) as broker:
        response = broker.send_message(topic=TOPIC, body=b"seen", properties=properties)
        broker.wait_for_max_offset(topic=TOPIC, offset=1)
    return require_success(response).fields["msgId"]


def rows(table: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the first four words of each line below a table's heading."""
    lines = [line.split() for line in table if line.strip()]
    return {tuple(words[:4]) for words in lines if not words[0].startswith("#")}


def field(output: Sequence[str], name: str) -> str:
    """Return the printed value after *name* and a colon."""
    for line in output:
        label, colon, value = line.partition(":")
        if colon and label == name:
            return value.strip()
    raise AssertionError(f"no {name!r} in: {output}")

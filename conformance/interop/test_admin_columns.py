"""
mqadmin of 4.6.0 and 5.3.3 prints the same of the reference as of a real 4.6.0.

The same commands go to both; every cell of what is printed must be equal, but for those
that ``admin_columns.py`` names. What fails at the real one must fail the same way here.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.target import Target, parse_target
from conformance.interop.admin_columns import (
    ABSENT,
    UNDETERMINED,
    Cells,
    anonymous,
    cells_of,
)
from conformance.interop.admin_tool import AdminTool, admin_tool
from conformance.interop.java_client import JavaClient

TARGETS = ("jvm:4.6.0", "embedded:")
RELEASES = ("4.6.0", "5.3.3")
TOPIC, OTHER_TOPIC = "AdminColumns", "AdminColumnsLater"

_CLUSTER = ("-c", "DefaultCluster")
_BROKER = ("-b", "BROKER")
_NAMED = ("-b", "broker-a")
_TOPIC = ("-t", TOPIC)
_ORDER = ("updateOrderConf", *_TOPIC, "-m")

CREATE = ("updateTopic", *_CLUSTER, *_TOPIC, "-r", "2", "-w", "2")
COMMANDS: Sequence[tuple[str, ...]] = (
    ("updateTopic", *_BROKER, "-t", OTHER_TOPIC, "-r", "3", "-w", "4", "-p", "4"),
    ("topicList",),
    ("topicList", "-c"),
    ("topicRoute", *_TOPIC),
    ("topicRoute", "-t", OTHER_TOPIC),
    ("topicStatus", *_TOPIC),
    ("clusterList",),
    ("clusterList", "-m"),
    ("brokerStatus", *_BROKER),
    ("brokerStatus", *_CLUSTER),
    ("updateKvConfig", "-s", "Space", "-k", "key", "-v", "a value"),
    ("deleteKvConfig", "-s", "Space", "-k", "key"),
    ("deleteKvConfig", "-s", "NoSpace", "-k", "key"),
    ("getNamesrvConfig",),
    ("updateNamesrvConfig", "-k", "productEnvName", "-v", "elsewhere"),
    ("updateNamesrvConfig", "-k", "noSuchSetting", "-v", "1"),
    ("getNamesrvConfig",),
    (*_ORDER, "put", "-v", "broker-a:2"),
    (*_ORDER, "get"),
    (*_ORDER, "delete"),
    (*_ORDER, "get"),
    ("wipeWritePerm", *_NAMED),
    ("wipeWritePerm", "-b", "broker-x"),
    ("topicRoute", *_TOPIC),
    ("deleteTopic", *_CLUSTER, *_TOPIC),
    ("topicList",),
    ("topicRoute", *_TOPIC),
    ("topicStatus", *_TOPIC),
)
"""In this order: the later ones see what the earlier ones have done."""


@pytest.mark.parametrize("release", RELEASES)
def test_mqadmin_prints_the_same_cells(release: str, tmp_path: Path) -> None:
    run = partial(cells_of_target, release, tmp_path)
    # A 5.3.3 command waits for 3 s at times, so both are asked at once.
    with ThreadPoolExecutor(len(TARGETS)) as pool:
        real, ours = pool.map(run, TARGETS)
    differences = [
        f"{' '.join(words)}: {name}: {expected.get(name)!r}, not {found.get(name)!r}"
        for words, expected, found in zip((CREATE, *COMMANDS), real, ours, strict=True)
        for name in sorted(expected.keys() | found.keys())
        if expected.get(name) != found.get(name)
    ]
    assert not differences, "\n".join(differences)
    assert all(real), "a command printed nothing"


def test_every_exception_is_of_a_command_that_is_run() -> None:
    run = {words[0] for words in COMMANDS}
    assert set(UNDETERMINED) | set(ABSENT) <= run


def cells_of_target(release: str, directory: Path, text: str) -> list[Cells]:
    """Return what each command prints of the target *text*."""
    home = directory / text.partition(":")[0]
    home.mkdir()
    with parse_target(text) as target:
        assert target.namesrv is not None
        client = JavaClient(release=release, namesrv=target.namesrv, directory=home)
        with admin_tool(client) as tool:
            first = cells_after(tool, target, CREATE)
            send_one(target)
            return [first, *(cells_after(tool, target, words) for words in COMMANDS)]


def cells_after(tool: AdminTool, target: Target, words: Sequence[str]) -> Cells:
    """Run one command; return the cells of what it prints."""
    broker = str(target.broker)
    lines = tool.run(*(broker if word == "BROKER" else word for word in words))
    names = {broker: "BROKER", str(target.namesrv): "NAME-SERVER"}
    names[str(target.namesrv).rpartition(":")[2]] = "PORT"
    return cells_of(words[0], anonymous(lines, names))


def send_one(target: Target) -> None:
    """Send a message, so that there is something to count."""
    assert target.broker is not None
    with Speaker.connect(target.broker) as broker:
        properties = {"WAIT": "true"}
        answer = broker.send_message(topic=TOPIC, body=b"one", properties=properties)
        succeeded(answer)
        broker.wait_for_max_offset(topic=TOPIC, offset=1)

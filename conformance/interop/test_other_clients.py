"""
Clients that are not Java: the C++ client, from Python, and a Node client.

Each program runs on a real 4.6.0 and on the reference. What it sent, what it received
and what it was told must be the same, and what it received must be what it sent.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from conformance.harness.fixtures import create_topic, unique_name
from conformance.harness.target import parse_target

PROGRAMS = Path(__file__).parent / "programs"
TARGETS = ("jvm:4.6.0", "embedded:")
NODE_CLIENT = "ali-ons@3.12.0"
SETTINGS = {
    "enablePropertyFilter": "true",
    # What is refused comes back at level 3: soon.
    "messageDelayLevel": "1s 1s 1s 2s",
}
PATIENCE_S = 60
CPP_RECEIVED = (
    *(f"sync {number}" for number in range(4)),
    *(f"ordered {number}" for number in range(3)),
    *("oneway", "async", "delayed", "x" * 20),
)
NODE_RECEIVED = ("sync 0", "sync 2", "grüße 中文 😀", "x" * 20, "delayed")
"""What the SQL92 expression selects; the tag B selects the other two."""


def run(
    command: Sequence[str | Path], groups: Sequence[str], count: int
) -> list[Counter[str]]:
    """Run a program on each target; return what happened there, however ordered."""
    return [_happened(target, command, groups, count) for target in TARGETS]


def _happened(
    target: str, command: Sequence[str | Path], groups: Sequence[str], count: int
) -> Counter[str]:
    with parse_target(target, conf=SETTINGS) as started:
        topic = create_topic(started, unique_name("clients"))
        for group in groups:  # the clients expect the topic of their retries
            create_topic(started, f"%RETRY%{group}", queue_count=1)
        words = [*command, str(started.namesrv), topic, str(count), str(PATIENCE_S)]
        ended = subprocess.run(
            words, capture_output=True, text=True, timeout=3 * PATIENCE_S, check=False
        )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return Counter(ended.stdout.splitlines())


def bodies(happened: Counter[str], **wanted: str) -> list[str]:
    """Return the bodies that were received, of messages with these words about them."""
    lines: list[Mapping[str, str]] = [json.loads(line) for line in happened.elements()]
    return sorted(
        line["got"]
        for line in lines
        if "got" in line and wanted.items() <= line.items()
    )


def test_the_cpp_client_finds_no_difference() -> None:
    program: list[str | Path] = [sys.executable, PROGRAMS / "cpp_client.py"]
    real, ours = run(program, ["cpp_group"], len(CPP_RECEIVED))
    assert bodies(ours) == sorted(CPP_RECEIVED)
    assert ours == real


@pytest.fixture(scope="session")
def node_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the Node client and return the program beside it."""
    directory = tmp_path_factory.mktemp("node")
    npm = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", NODE_CLIENT]
    subprocess.run(npm, cwd=directory, check=True, timeout=300)
    return Path(shutil.copy(PROGRAMS / "node_client.cjs", directory))


def test_the_node_client_finds_no_difference(node_client: Path) -> None:
    groups = ["node_group", "node_tags", "node_sql"]
    real, ours = run(["node", node_client], groups, 2 * len(NODE_RECEIVED) + 4)
    assert bodies(ours, group="node_sql") == sorted(NODE_RECEIVED)
    assert bodies(ours, group="node_tags") == ["sync 1", "sync 3"]
    everything = sorted((*NODE_RECEIVED, "sync 1", "sync 3"))
    assert bodies(ours, group="node_group") == everything
    assert ours == real

"""
Clients that are not Java: the C++ client, from Python, and a Node client.

Of each there is one program that does all that the client has, and prints a line of
JSON for each thing that happened. Here the lines are put to the features.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.target import Target

PROGRAMS = Path(__file__).parent
NODE_CLIENT = "ali-ons@3.12.0"
PATIENCE_S = 60
LARGE, SHORTENED = 3_000_000, "x" * 20
NODE_LARGE = 100_000

Lines = list[dict[str, Any]]
"""Output of a program, in order."""


class ClientUnavailableError(Exception):
    """The client is not installed here, and cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherClient:
    """A program, what it needs, and what is to happen."""

    command: Callable[[], list[str]]
    """Command that runs it; it installs a missing client."""
    groups: tuple[str, ...]
    """Its consumers: they expect the topic of their retries."""
    topics: tuple[str, ...]
    """Words at the end of the names of topics that it has besides the main one."""
    count: int
    """Number of messages to consume of the main topic."""
    outcomes: Callable[[Lines], dict[str, object]]
    """Outcome by feature."""
    expected: Mapping[str, object]
    untried: frozenset[str]
    """Features of the client that the program does not use."""


def happened(client: OtherClient, target: Target) -> dict[str, object]:
    """Run the program of a client; return what happened, by feature."""
    command = client.command()
    topic = create_topic(target, unique_name("clients"))
    for word in client.topics:
        create_topic(target, f"{topic}_{word}", queue_count=2)
    for group in client.groups:
        create_topic(target, f"%RETRY%{group}", queue_count=1)
    words = [*command, str(target.namesrv), topic, str(client.count), str(PATIENCE_S)]
    ended = subprocess.run(
        words, capture_output=True, text=True, timeout=5 * PATIENCE_S, check=False
    )
    if ended.returncode:
        return {"error": ended.stderr[-2000:]}
    return client.outcomes([json.loads(line) for line in ended.stdout.splitlines()])


def _did(lines: Lines, what: str, key: str = "status") -> list[Any]:
    """Return the printed values of one kind of operation."""
    return [line[key] for line in lines if line.get("did") == what and key in line]


def _got(lines: Lines, **wanted: str) -> list[list[Any]]:
    """Return body, tag, keys and own property of what came, in order of bodies."""
    return sorted(
        [line["got"], line["tags"], line["keys"], line["own"]]
        for line in lines
        if "got" in line and wanted.items() <= line.items()
    )


def _bodies(lines: Lines, start: str, **wanted: str) -> list[str]:
    """Return the bodies that came and begin so, in order."""
    return [one[0] for one in _got(lines, **wanted) if one[0].startswith(start)]


def _sizes(lines: Lines, **wanted: str) -> list[int]:
    return [
        line["size"]
        for line in lines
        if line.get("got") == SHORTENED and wanted.items() <= line.items()
    ]


def _cpp() -> list[str]:
    if importlib.util.find_spec("rocketmq") is None:
        raise ClientUnavailableError("install rocketmq==0.4.4 (tox -e clients has it)")
    return [sys.executable, str(PROGRAMS / "cpp_client.py")]


def _cpp_outcomes(lines: Lines) -> dict[str, object]:
    of_queues: dict[str, list[str]] = defaultdict(list)
    for got in _did(lines, "ordered", "got_all"):
        for queue, body in got:
            of_queues[str(queue)].append(body)
    return {
        "sync send": {
            "sent": _did(lines, "sync"),
            "received": [one for one in _got(lines) if one[0].startswith("sync")],
        },
        "async send": {
            "sent": _did(lines, "async"),
            "received": _bodies(lines, "async"),
        },
        "oneway send": {"received": _bodies(lines, "oneway")},
        "batch send": {
            "sent": _did(lines, "batch"),
            "received": _plain(_did(lines, "batch", "got_all")),
        },
        "large body": {
            "sent": _did(lines, "random"),
            "received": _plain(_did(lines, "random", "got_all")),
        },
        "compressed body": {"sent": _did(lines, "large"), "received": _sizes(lines)},
        "ordered": {
            "sent in a row": _did(lines, "ordered", "in_a_row"),
            "received": sorted(of_queues.values()),
        },
        "delay": {
            "sent": _did(lines, "delayed"),
            "received": _bodies(lines, "delayed"),
        },
        "tag filter": _plain(_did(lines, "tags", "got_all")),
        "retry": {"refused once": _bodies(lines, "sync 0")},
        "pull": _did(lines, "pull", "count"),
    }


def _plain(got: list[list[list[Any]]]) -> list[str]:
    return sorted(body for one in got for _, body in one)


def _node() -> list[str]:
    if not (shutil.which("npm") and shutil.which("node")):
        raise ClientUnavailableError("there is no Node here")
    return ["node", str(_node_program())]


@functools.cache
def _node_program() -> Path:
    """Install the client and return the program beside it."""
    directory = tempfile.TemporaryDirectory(prefix="node-client-")
    _installed.append(directory)
    npm = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", NODE_CLIENT]
    try:
        subprocess.run(npm, cwd=directory.name, check=True, timeout=300)
    except subprocess.CalledProcessError:
        raise ClientUnavailableError(f"npm did not bring {NODE_CLIENT}") from None
    return Path(shutil.copy(PROGRAMS / "node_client.cjs", directory.name))


_installed: list[tempfile.TemporaryDirectory[str]] = []
"""They go when the run ends."""


def _node_outcomes(lines: Lines) -> dict[str, object]:
    everything = _got(lines, group="node_group")
    return {
        "sync send": {
            "sent": _did(lines, "sync") + _did(lines, "text"),
            "received": [one for one in everything if one[0][:4] in {"sync", "grüß"}],
        },
        "compressed body": {
            "sent": _did(lines, "large"),
            "received": _sizes(lines, group="node_group"),
        },
        "delay": {
            "sent": _did(lines, "delayed"),
            "received": _bodies(lines, "delayed", group="node_group"),
        },
        "tag filter": _bodies(lines, "", group="node_tags"),
        "SQL92 filter": _bodies(lines, "", group="node_sql"),
        "retry": {"refused once": _bodies(lines, "sync 1", group="node_group")},
    }


_RANDOM_DIGEST = hashlib.sha256(
    hashlib.shake_128(b"large").hexdigest(2_000_000).encode()
).hexdigest()
_TEXT = "grüße 中文 😀"

CLIENTS: Mapping[str, OtherClient] = {
    "C++": OtherClient(
        command=_cpp,
        groups=("cpp_group", "cpp_batch", "cpp_ordered", "cpp_random", "cpp_tags"),
        topics=("batch", "ordered", "random", "tags"),
        count=11,
        outcomes=_cpp_outcomes,
        expected={
            "sync send": {
                "sent": ["OK"] * 4,
                "received": [
                    [f"sync {n}", "AB"[n % 2], "k", "value"] for n in range(4)
                ],
            },
            "async send": {"sent": ["OK"], "received": ["async"]},
            "oneway send": {"received": ["oneway"]},
            "batch send": {
                "sent": ["OK"],
                "received": ["batch 0", "batch 1", "batch 2"],
            },
            "large body": {"sent": ["OK"], "received": [_RANDOM_DIGEST]},
            "compressed body": {"sent": ["OK"], "received": [LARGE]},
            "ordered": {
                "sent in a row": [[0, 1, 2]],
                "received": [list("02468"), list("13579")],
            },
            "delay": {"sent": ["OK"], "received": ["delayed"]},
            "tag filter": ["0 A", "1 B", "4 B", "5 A"],
            "retry": {"refused once": ["sync 0"]},
            "pull": [11],
        },
        untried=frozenset({"broadcast", "rebalance", "dead letters", "reset offset"}),
    ),
    "Node": OtherClient(
        command=_node,
        groups=("node_group", "node_tags", "node_sql"),
        topics=(),
        count=14,
        outcomes=_node_outcomes,
        expected={
            "sync send": {
                "sent": ["SEND_OK"] * 5,
                "received": [
                    [_TEXT, "A", "k1 k2", "value"],
                    *([f"sync {n}", "AB"[n % 2], "k1 k2", "value"] for n in range(4)),
                ],
            },
            "compressed body": {"sent": ["SEND_OK"], "received": [NODE_LARGE]},
            "delay": {"sent": ["SEND_OK"], "received": ["delayed"]},
            "tag filter": ["sync 1", "sync 3"],
            "SQL92 filter": sorted(["sync 0", "sync 2", _TEXT, SHORTENED, "delayed"]),
            "retry": {"refused once": ["sync 1"]},
        },
        untried=frozenset({"large body", "broadcast", "rebalance", "dead letters"}),
    ),
}

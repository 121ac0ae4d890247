"""
Faults of whole configuration files, of the checkpoint, and of settings against queues.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spark_checks.tests.fields.file_fault import FileFault, Place
from spark_checks.tests.fields.file_faults import longest_queue
from spec.wire.bodies import fastjson

Plant = Callable[[Path], Place]
BEYOND = 1_000_000
"""Offset behind the end of every queue of a small store."""
OTHER = "consumerFilter.json"
"""File whose content replaces that of another."""


def _gone(name: str, *, has_copy: bool) -> Plant:
    """Return a function that deletes a file of config, and may leave a copy."""

    def plant(root: Path) -> Place:
        path = root / "config" / name
        if has_copy:
            shutil.copy(path, path.with_name(f"{name}.bak"))
        path.unlink()
        return Place(file=f"config/{name}", offset=0)

    return plant


def _of_another(name: str) -> Plant:
    def plant(root: Path) -> Place:
        shutil.copy(root / "config" / OTHER, root / "config" / name)
        return Place(file=f"config/{name}", offset=0)

    return plant


def _changed(name: str, change: Callable[[Path, dict[str, Any]], str]) -> Plant:
    """Return a function that changes the object in a file of config.

    *change* returns the path of the file that has the finding.
    """

    def plant(root: Path) -> Place:
        path = root / "config" / name
        value = fastjson.loads(path.read_bytes())
        assert isinstance(value, dict)
        file = change(root, value)
        data = fastjson.dumps(value)
        path.write_bytes(data)
        at = data.find(str(BEYOND).encode())
        return Place(file=file, offset=at if at >= 0 else None)

    return plant


def _consumed_beyond(_root: Path, value: dict[str, Any]) -> str:
    offsets = next(iter(value["offsetTable"].values()))
    offsets[next(iter(offsets))] = BEYOND
    return "config/consumerOffset.json"


def _delivered_beyond(_root: Path, value: dict[str, Any]) -> str:
    table = value["offsetTable"]
    table[next(iter(table))] = BEYOND
    return "config/delayOffset.json"


def _fewer_queues(root: Path, value: dict[str, Any]) -> str:
    """Configure one queue for a topic that has more."""
    config = value["topicConfigTable"][(root / longest_queue(root)).parent.name]
    config["readQueueNums"] = config["writeQueueNums"] = 1
    return "config/consumerOffset.json"


def _topic_missing(root: Path, value: dict[str, Any]) -> str:
    del value["topicConfigTable"][(root / longest_queue(root)).parent.name]
    return "config/topics.json"


def _no_config(root: Path) -> Place:
    shutil.rmtree(root / "config")
    return Place(file="config/topics.json", offset=0)


def _no_times(root: Path) -> Place:
    path = root / "checkpoint"
    path.write_bytes(bytes(24) + path.read_bytes()[24:])
    return Place(file="checkpoint", offset=8)


def _no_checkpoint(root: Path) -> Place:
    (root / "checkpoint").unlink()
    return Place(file="checkpoint", offset=0)


def _fault(
    kind: str,
    description: str,
    plant: Plant,
    *findings: str,
    severity: str = "error",
    why: str = "",
) -> FileFault:
    return FileFault(
        kind=kind,
        description=description,
        plant=plant,
        findings=findings,
        severity=severity,
        why=why,
    )


_WHY_GONE = {
    "subscriptionGroup.json": "A broker without groups has no such file.",
    "delayOffset.json": "Up to 4.8 a broker writes it 10 seconds after its start.",
}
"""Reason why no finding reports a file without its copy."""
NAMES = ("topics.json", "consumerOffset.json", *_WHY_GONE)

SETTING_FAULTS = (
    *(
        _fault(
            f"{name}-copy-only",
            f"{name} missing, with its copy",
            _gone(name, has_copy=True),
            "INV-CONFIG-005",
            severity="warning",
        )
        for name in NAMES
    ),
    *(
        _fault(
            f"{name}-missing",
            f"{name} missing, without a copy",
            _gone(name, has_copy=False),
            *(() if name in _WHY_GONE else ("INV-CONFIG-005",)),
            why=_WHY_GONE.get(name, ""),
        )
        for name in NAMES
    ),
    *(
        _fault(
            f"{name}-of-another",
            f"{name} with the content of {OTHER}",
            _of_another(name),
            "INV-CONFIG-005",
        )
        for name in NAMES
    ),
    _fault(
        "config-missing",
        "no directory config",
        _no_config,
        "INV-CONFIG-005",
        severity="warning",
        why="A copy may leave it out.",
    ),
    _fault(
        "consumed-beyond",
        "a consumed offset behind the end of its queue",
        _changed("consumerOffset.json", _consumed_beyond),
        "INV-OFFSET-001",
        why="The end of a queue without units is unknown.",
    ),
    _fault(
        "delivered-beyond",
        "a delivered offset behind the end of its queue",
        _changed("delayOffset.json", _delivered_beyond),
        "INV-OFFSET-002",
        why="The end of a queue without units is unknown.",
    ),
    _fault(
        "fewer-queues",
        "a topic with fewer queues than directories",
        _changed("topics.json", _fewer_queues),
        "INV-CONFIG-006",
        severity="warning",
        why="An operator may reduce the queues of a topic. It is detected if a group"
        " has not consumed them.",
    ),
    _fault(
        "topic-missing",
        "a topic with messages that is not configured",
        _changed("topics.json", _topic_missing),
        "INV-CONFIG-002",
        severity="warning",
    ),
    _fault(
        "checkpoint-zero",
        "all times zero after an orderly stop",
        _no_times,
        "INV-CHECK-003",
        severity="warning",
    ),
    _fault(
        "checkpoint-missing",
        "no checkpoint",
        _no_checkpoint,
        "INV-CHECK-001",
        severity="warning",
    ),
)

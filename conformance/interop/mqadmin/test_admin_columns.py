"""
mqadmin of 4.6.0 and 5.3.3 prints the same for the reference as for a real 4.6.0.

Both targets get the same commands, all of those of 4.6.0. Every printed cell must be
equal, except those in ``undetermined.py``. A command that fails at the real broker must
fail the same way here.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from conformance.harness.client.client import Client, require_success
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.java.client import JavaClient
from conformance.interop.mqadmin import steps
from conformance.interop.mqadmin.columns import Cells, anonymous, cells_of
from conformance.interop.mqadmin.compare import SETTINGS, TARGETS, run_all
from conformance.interop.mqadmin.tool import AdminTool, admin_tool
from conformance.interop.mqadmin.undetermined import ABSENT, UNDETERMINED

LATER_RELEASE = "5.3.3"
TOPIC = steps.CREATED
SILENT = "queryMsgByOffset"
"""It prints nothing of an offset that is not there."""


def test_every_command_of_4_6_0_prints_the_same_cells(tmp_path: Path) -> None:
    taken = run_all(tmp_path)
    differ = [f"{one.words}: {each}" for one in taken for each in one.differences]
    assert not differ, "\n".join(differ)
    silent = {one.command for one in taken if not one.cell_count}
    assert silent == {SILENT}
    assert {one.command for one in taken} == {*steps.SUB_COMMANDS, steps.QUERY}


def test_commands_of_a_later_release_print_the_same_cells(tmp_path: Path) -> None:
    # Some 5.3.3 commands wait for 3 s, so both targets run concurrently.
    with ThreadPoolExecutor(len(TARGETS)) as pool:
        real, ours = pool.map(partial(cells_of_target, tmp_path), TARGETS)
    differences = [
        f"{' '.join(words)}: {name}: {expected.get(name)!r}, not {found.get(name)!r}"
        for words, expected, found in zip(
            (steps.CREATE, *steps.ROUTES), real, ours, strict=True
        )
        for name in sorted(expected.keys() | found.keys())
        if expected.get(name) != found.get(name)
    ]
    assert not differences, "\n".join(differences)
    assert all(real), "a command printed nothing"


def test_every_exception_is_of_a_command_that_is_run() -> None:
    run = {words[0] for words in steps.ALL}
    assert set(UNDETERMINED) | set(ABSENT) <= run


def cells_of_target(directory: Path, text: str) -> list[Cells]:
    """Return the output of each command of the later release for the target *text*."""
    home = directory / text.partition(":")[0]
    home.mkdir()
    with parse_target(text, conf=SETTINGS) as target:
        assert target.namesrv is not None
        client = JavaClient(
            release=LATER_RELEASE, namesrv=target.namesrv, directory=home
        )
        with admin_tool(client) as tool:
            first = cells_after(tool, target, steps.CREATE)
            send_one(target)
            return [first, *(cells_after(tool, target, one) for one in steps.ROUTES)]


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
    with Client.connect(target.broker) as broker:
        properties = {"WAIT": "true"}
        response = broker.send_message(topic=TOPIC, body=b"one", properties=properties)
        require_success(response)
        broker.wait_for_max_offset(topic=TOPIC, offset=1)

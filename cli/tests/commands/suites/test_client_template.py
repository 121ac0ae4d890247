"""``rmqc client template`` prints an adapter that follows the protocol of adapters."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from cli.main import main

REQUESTS = [
    {"id": 1, "verb": "hello", "protocol": 1},
    {"id": 2, "verb": "producer", "name": "p", "namesrv": "", "group": "g"},
    {"id": 3, "verb": "no_such_verb"},
    {"id": 4, "verb": "stop", "name": "never started"},
]


def responses(adapter: Path) -> dict[int, Any]:
    """Return the responses of *adapter* to `REQUESTS` by id."""
    lines = "".join(json.dumps(one) + "\n" for one in REQUESTS)
    pipe = subprocess.PIPE
    command = [sys.executable, str(adapter)]
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines)
        process.stdin.flush()
        found = [json.loads(process.stdout.readline()) for _ in REQUESTS]
        process.stdin.write('{"id": 5, "verb": "bye"}\n')
        process.stdin.flush()
        assert process.wait(30) == 0
    return {one.pop("id"): one for one in found}


def test_the_template_answers_every_request(tmp_path: Path) -> None:
    printed = CliRunner().invoke(main, ["client", "template"])
    assert printed.exit_code == 0
    adapter = tmp_path / "adapter.py"
    adapter.write_text(printed.stdout, encoding="utf-8")
    found = responses(adapter)
    assert found[1]["result"]["release"] == "4.6.0"
    assert found[2] == {"unsupported": "no producer yet"}
    assert found[3] == {"unsupported": "no no_such_verb"}
    assert found[4]["error"]["kind"] == "adapter"

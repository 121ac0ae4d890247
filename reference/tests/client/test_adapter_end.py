"""The adapter of the reference client leaves no folder behind."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from rocketmq_conformance.paths import module_command

HELLO = b'{"id": 1, "verb": "hello", "protocol": 1}\n'


@pytest.mark.parametrize("by", ["signal", "end of input", "bye"])
def test_no_folder_is_left(by: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        module_command("reference.shell.adapter.adapter"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as adapter:
        assert adapter.stdin is not None
        assert adapter.stdout is not None
        adapter.stdin.write(HELLO)
        adapter.stdin.flush()
        assert b'"reference"' in adapter.stdout.readline()
        assert len([*tmp_path.iterdir()]) == 1
        if by == "signal":
            adapter.send_signal(signal.SIGTERM)
        elif by == "bye":
            adapter.stdin.write(b'{"id": 2, "verb": "bye"}\n')
            adapter.stdin.flush()
        else:
            adapter.stdin.close()
        assert adapter.wait(30) == 0
    assert [*tmp_path.iterdir()] == []

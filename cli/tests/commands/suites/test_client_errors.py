"""Errors of an adapter in the output of ``rmqc test-client``."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

from rocketmq_conformance.paths import module_command

HELLO = {"adapter": "a", "client": "c", "release": "4.6.0", "features": ["sync"]}
FAILS = f"""
import json, sys
for text in sys.stdin:
    number = json.loads(text)["id"]
    error = {{"kind": "adapter", "code": None, "text": "KeyError()"}}
    is_hello = json.loads(text)["verb"] == "hello"
    end = {{"result": {json.dumps(HELLO)}}} if is_hello else {{"error": error}}
    print(json.dumps({{"id": number, **end}}), flush=True)
"""


def test_an_error_of_an_adapter_has_the_command_that_repeats_its_test() -> None:
    adapter = shlex.join([sys.executable, "-c", FAILS])
    words = ["--adapter", adapter, "--only", "CLIENT-SENDRESULT-003", "--jobs", "0"]
    ended = subprocess.run(
        module_command("cli", "test-client", *words), capture_output=True, text=True
    )
    assert ended.returncode == 3
    assert "the adapter failed: KeyError()" in ended.stdout
    name = "a response that comes before the end of its time is the result"
    assert f"test      {name}\n" in ended.stdout
    assert f"-k 'test_{name.replace(' ', '_')}' -v\n" in ended.stdout

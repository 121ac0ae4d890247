"""Signals of an audit whose exceptions Python or a library ignores."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from conformance.harness.targets.started.embedded import SOURCES

IGNORED = """
import signal
import click
from cli.runs.stores.audits import ended_by_interrupt

class Finalised:
    def __del__(self):
        signal.raise_signal({number})

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.default_int_handler)

@click.command()
def audit():
    with ended_by_interrupt():
        Finalised()
    print("complete")

audit()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_in_a_finaliser_is_not_lost(number: signal.Signals) -> None:
    program = IGNORED.format(number=int(number))
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=SOURCES, capture_output=True, text=True
    )
    assert "Exception ignored in" in ended.stderr
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.endswith("Error: interrupted\n")

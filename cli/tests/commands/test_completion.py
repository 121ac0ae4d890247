"""Completion in a real bash, which gets the environment of a pressed Tab."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.commands.completion import SHELLS
from cli.main import main

ROOT = Path(__file__).parents[3]
PRESS_TAB = """
eval "$(rmqc completion bash)"
compopt() { echo "compopt $1 $2"; }
[[ $(complete -p rmqc) == *" -F _rmqc_completion rmqc" ]] || exit 1
for COMP_LINE; do
    COMP_POINT=${#COMP_LINE} COMPREPLY=(stale)
    echo "> $COMP_LINE"
    _rmqc_completion rmqc
    printf '%s\\n' "${COMPREPLY[@]}"
done
"""
STARTS = "from cli.main import main; main(prog_name='rmqc')"
LINES = {
    "rmqc comp": ["completion"],
    "rmqc test --suite wire,st": ["wire,store"],
    "rmqc test --target j": ["compopt -o nospace", "jvm:"],
    "rmqc test --target jvm:5.3": ["5.3.3"],
    "rmqc test --target=mutant:header_l": ["header_length_from_8_bits"],
    "rmqc test --target 'mutant:header_l": ["mutant:header_length_from_8_bits"],
    "rmqc test --target cmd:conformance/targets/t": [
        "conformance/targets/template.toml"
    ],
    "rmqc test --only WIRE-FRAME-001,wire-frame-*": ["WIRE-FRAME-001,WIRE-FRAME-*"],
    "rmqc spec show wire-frame-001": ["WIRE-FRAME-001"],
    "rmqc test --known nothing-begins-so": ["compopt -o default"],
}
"""A line, and what bash then offers; after a colon only what follows it."""


def test_bash_offers_what_there_is(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash, "this needs bash"
    script = tmp_path / "rmqc"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{STARTS}" "$@"\n')
    script.chmod(0o755)
    ended = subprocess.run(
        [bash, "--norc", "-c", PRESS_TAB, "bash", *LINES],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    parts = [part.splitlines() for part in f"\n{ended.stdout}".split("\n> ")[1:]]
    offered = {line: [one for one in words if one] for line, *words in parts}
    assert ended.stderr == ""
    assert offered == LINES


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_every_shell_asks_rmqc(shell: str) -> None:
    printed = CliRunner().invoke(main, ["completion", shell])
    assert printed.exit_code == 0
    assert f"_RMQC_COMPLETE={shell}_complete" in printed.output


def test_commas_are_no_ends_of_an_offer_in_fish() -> None:
    printed = CliRunner().invoke(main, ["completion", "fish"])
    assert 'string split --max 1 ","' in printed.output


def test_the_help_has_a_line_for_each_shell() -> None:
    lines = CliRunner().invoke(main, ["completion", "--help"]).output.splitlines()
    starts = [line.split()[0] for line in lines if "rmqc completion " in line]
    assert starts == list(SHELLS)

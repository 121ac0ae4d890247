"""
``rmqc completion``: the script with which a shell completes rmqc's command lines.

The script for zsh is click's. In bash a colon ends a word, so ``mutant:header`` would
be completed as ``header``. The script for bash therefore passes the whole line, and
removes the part before the colon from each completion. In fish, click's script splits
a completion at its commas, as in ``--suite wire,store``.
"""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress

import click
from click.shell_completion import (
    BashComplete,
    FishComplete,
    add_completion_class,
    get_completion_class,
)

PROGRAM = "rmqc"
VARIABLE = "_RMQC_COMPLETE"
SHELLS = ("bash", "zsh", "fish")

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' line="${COMP_LINE:0:COMP_POINT}" type value word
    COMPREPLY=()
    while IFS=',' read -r type value; do
        [[ $type == plain ]] && COMPREPLY+=("$value")
    done < <(COMP_LINE="$line" %(complete_var)s=bash_complete "$1" 2>/dev/null)
    [[ ${#COMPREPLY[@]} == 0 ]] && compopt -o default
    [[ ${COMPREPLY[0]} == *[:/] ]] && compopt -o nospace
    word="${line##*[[:space:]]}"
    word="${word##*=}"
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${word%%"${word##*:}"}"}")
    fi
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


@add_completion_class
class WholeLine(BashComplete):
    """Completion in bash from the line instead of bash's words."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the incomplete one, and the incomplete one."""
        line = os.environ["COMP_LINE"]
        words = line.split()
        for closing in ("", "'", '"'):
            with suppress(ValueError):
                words = shlex.split(line + closing)
                break
        if not words or line[-1:].isspace():
            words.append("")
        return words[1:-1], words[-1]


@add_completion_class
class UnsplitCompletions(FishComplete):
    """Completion in fish that keeps the commas of a completion."""

    source_template = FishComplete.source_template.replace(
        'string split ","', 'string split --max 1 ","'
    )


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script with which SHELL completes commands, clauses and targets.

    \b
    bash  eval "$(rmqc completion bash)"    in ~/.bashrc
    zsh   eval "$(rmqc completion zsh)"     in ~/.zshrc, after compinit
    fish  rmqc completion fish > ~/.config/fish/completions/rmqc.fish
    """  # noqa: D301 - click reads the character, not the two letters
    kind = get_completion_class(shell)
    assert kind is not None
    command = click.get_current_context().find_root().command
    sys.stdout.write(kind(command, {}, PROGRAM, VARIABLE).source())

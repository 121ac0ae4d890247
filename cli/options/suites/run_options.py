"""Options of the commands that run suites: profile, known failures, clauses."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options.common import LocalPath, list_option
from cli.options.suites import completions as completing

PROFILE = click.option(
    "--profile",
    metavar="RELEASE",
    shell_complete=completing.profiles,
    help="Apply the clauses of this release, as 4.6.",
)
KNOWN = click.option(
    "--known",
    type=LocalPath(exists=True, dir_okay=False, path_type=Path),
    help="TOML file of known failures, each with a reason; a stale entry fails.",
)
WRITE_KNOWN = click.option(
    "--write-known",
    type=LocalPath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the failures into a new file for --known, to add reasons there.",
)
ONLY = list_option(
    "--only",
    metavar="ID,FAMILY-*",
    shell_complete=completing.chosen_clauses,
    help="Only tests that name one of these clauses; * and ? are wildcards.",
)
LEVEL = list_option(
    "--level",
    metavar="LEVEL,...",
    shell_complete=completing.levels,
    help="Only clauses of this level, as MUST.",
)
LISTED = click.option(
    "--list", "listed", is_flag=True, help="List the clauses; run nothing."
)

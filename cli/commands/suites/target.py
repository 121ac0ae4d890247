"""``rmqc target``: a target file for your own broker, and a probe of its features."""

from __future__ import annotations

import sys
from shlex import quote

import click

from cli.options.common import CommandGroup
from cli.options.exit_codes import FINDINGS, NOT_RUN, SUCCESS, fail
from cli.options.progress import waiting
from cli.options.suites.completions import targets
from conformance.harness.report.terminal.line_width import wrapped
from conformance.harness.targets.probing.probe import (
    REFUSALS_DO_NOT_COUNT,
    ProbeResult,
    names_of,
    probe,
)
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import Target, TargetError, parse_target

SILENT = "no release: no response to {request} without fields"
TEMPLATE = SOURCES / "conformance" / "targets" / "template.toml"


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
def target() -> None:
    """Describe and probe a target: your own broker."""


@target.command()
def template() -> None:
    """Print a commented target.toml, to be filled in.

    `rmqc test --target cmd:target.toml` starts what it describes.
    """
    click.echo(TEMPLATE.read_text(encoding="utf-8"), nl=False)


@target.command("probe")
@click.argument("text", metavar="TARGET", shell_complete=targets)
def probe_(text: str) -> None:
    """Probe TARGET: its release and its features.

    Starts the target, prints its release, capabilities and refusals, and stops it.

    The probe only reads, so the target may be a cluster in use.

    Exit codes: 0 honest, 1 it accepts invalid requests or sends wrong opaques,
    2 usage, 3 it does not start or respond.
    """
    try:
        named = parse_target(text)
    except (TargetError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    try:
        with waiting(f"probing {text}"), named as started:
            found = probe(started)
    except TargetError as error:
        fail(error)
    for name, value in _rows(named, found):
        click.echo(wrapped(f"{name:<13} {value}", indent=14))
    if found.violations:
        sys.exit(FINDINGS)
    sys.exit(SUCCESS if found.release else NOT_RUN)


def _rows(started: Target, found: ProbeResult) -> list[tuple[str, str]]:
    """Return the lines to print, as pairs of name and value."""
    is_silent = not found.release and not found.violations
    return [
        ("target", started.text),
        ("profile", started.release),
        *_missing_broker(started),
        ("resembles", found.release or _silence(started)),
        ("capabilities", ", ".join(sorted(started.capabilities))),
        *(_next_step(started) if is_silent else _features(found)),
    ]


def _missing_broker(started: Target) -> list[tuple[str, str]]:
    """Return the line about a name server without a broker."""
    if started.broker is not None or started.namesrv is None:
        return []
    reason = f"none is registered with {started.namesrv}; ?broker=HOST:PORT states one"
    return [("broker", reason)]


def _silence(started: Target) -> str:
    is_broker = started.broker is not None
    request = "GET_MAX_OFFSET" if is_broker else "GET_BROKER_CLUSTER_INFO"
    return SILENT.format(request=request)


def _next_step(started: Target) -> list[tuple[str, str]]:
    """Return the command that shows the received bytes, if there are any."""
    command = f"rmqc test --target {quote(started.text)} --only WIRE-FRAME-001 -v"
    return [("next", command)]


def _features(found: ProbeResult) -> list[tuple[str, str]]:
    """Return the lines about a peer that responds."""
    return [
        ("header", found.header),
        ("json", found.json),
        ("refuses", ", ".join(names_of(found.refused)) or "no probed request"),
        *(("not honest", line) for line in found.violations),
        *([("so", REFUSALS_DO_NOT_COUNT)] if found.violations else []),
    ]

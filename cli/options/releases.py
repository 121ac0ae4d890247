"""The option ``--release``: a release or series, mapped to the nearest studied one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import click

from cli.options.common import Decorator
from cli.options.exit_codes import WrongValueError
from spec.clause import release_key

Among: TypeAlias = Callable[[], Sequence[str]]
"""Function that returns the releases to choose from, the oldest first."""


def studied_releases() -> Sequence[str]:
    """Return the releases that a profile may stand for."""
    from conformance.harness.releases import STUDIED

    return STUDIED


def recoverable_releases() -> Sequence[str]:
    """Return the releases whose start can be forecast."""
    from reference.core.store.recovery.rules import RULES

    return list(RULES)


def release_option(
    explanation: str,
    *,
    among: Among = studied_releases,
    default: str | None = None,
    required: bool = False,
) -> Decorator:
    """Return ``--release``, whose value is one of the releases *among*."""

    def studied(
        ctx: click.Context, option: click.Parameter, given: str | None
    ) -> str | None:
        if given is None and required:
            raise click.MissingParameter(ctx=ctx, param=option)
        return None if given is None else studied_release(given, among)

    return click.option(
        "--release",
        metavar="RELEASE",
        default=default,
        show_default=default is not None,
        required=required,
        callback=studied,
        help=explanation,
    )


def releases_option(explanation: str, *, among: Among) -> Decorator:
    """Return ``--release`` as *releases*: it may be given several times."""

    def studied(
        _ctx: click.Context, _option: click.Parameter, given: tuple[str, ...]
    ) -> tuple[str, ...]:
        return tuple(dict.fromkeys(studied_release(one, among) for one in given))

    return click.option(
        "--release",
        "releases",
        metavar="RELEASE",
        multiple=True,
        callback=studied,
        help=explanation,
    )


def studied_release(text: str, among: Among = studied_releases) -> str:
    """Return the release *among* the studied ones for *text*, as ``4.6`` or ``4.7.1``.

    A different release than the given one is reported on standard error.
    """
    from conformance.harness.targets.target import TargetError, release_of_profile

    try:
        release = release_of_profile(text, among())
    except TargetError as error:
        reason = str(error).removeprefix("--profile: ")
        raise WrongValueError(f"--release: {reason}") from None
    given = release_key(text)
    if release_key(release)[: len(given)] != given:
        notice = f"release {text}: using {release}, the nearest studied release"
        click.echo(notice, err=True)
    return release

"""The option ``--release``: a release or series, mapped to the nearest studied one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

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


class Release(click.ParamType[str]):
    """A release or series, converted to the nearest one of *among*."""

    name = "release"

    def __init__(self, among: Among = studied_releases) -> None:
        self._among = among

    def convert(
        self,
        value: str,
        param: click.Parameter | None,
        ctx: click.Context | None,  # noqa: ARG002 - click's
    ) -> str:
        """Return the release that *value* stands for."""
        if isinstance(param, click.Argument):
            return studied_release(value, self._among, param.human_readable_name)
        if param is not None:
            return studied_release(value, self._among, param.opts[0])
        return studied_release(value, self._among)

    def get_missing_message(
        self,
        param: click.Parameter,  # noqa: ARG002 - click's
        ctx: click.Context | None,  # noqa: ARG002 - click's
    ) -> str:
        """Return the releases to choose from."""
        return f"Choose from {', '.join(self._among())}."


def release_option(
    explanation: str,
    *,
    among: Among = studied_releases,
    default: str | None = None,
    required: bool = False,
) -> Decorator:
    """Return ``--release``, whose value is one of the releases *among*."""
    # click takes a default of None for a value, with which no option is missing.
    defaults: dict[str, Any] = {}
    if default is not None:
        defaults = {"default": default, "show_default": True}
    return click.option(
        "--release",
        type=Release(among),
        metavar="RELEASE",
        required=required,
        help=explanation,
        **defaults,
    )


def releases_option(explanation: str, *, among: Among) -> Decorator:
    """Return ``--release`` as *releases*: it may be given several times."""
    return click.option(
        "--release",
        "releases",
        type=Release(among),
        metavar="RELEASE",
        multiple=True,
        callback=lambda _ctx, _option, given: tuple(dict.fromkeys(given)),
        help=explanation,
    )


def studied_release(
    text: str, among: Among = studied_releases, parameter: str = "--release"
) -> str:
    """Return the release *among* the studied ones for *text*, as ``4.6`` or ``4.7.1``.

    A different release than the given one is reported on standard error. Errors name
    the *parameter* that has the text.
    """
    from conformance.harness.targets.target import TargetError, release_of_profile

    try:
        release = release_of_profile(text, among())
    except TargetError as error:
        reason = str(error).removeprefix("--profile: ")
        raise WrongValueError(f"{parameter}: {reason}") from None
    given = release_key(text)
    if release_key(release)[: len(given)] != given:
        notice = f"release {text}: using {release}, the nearest studied release"
        click.echo(notice, err=True)
    return release

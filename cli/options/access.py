"""
Options of commands that connect: credentials to sign with, and TLS.

They are the settings of a target about its clients (docs/targets.md). A secret key is
in a file, so it is in no list of processes and in no history of a shell.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from cli.options.common import LocalPath
from conformance.harness.client.access import (
    CREDENTIALS,
    SETTINGS,
    TLS,
    TLS_CERT,
    TLS_KEY,
    AccessError,
    access_of,
)

_FILE = LocalPath(dir_okay=False)
_OPTIONS = (
    click.option(
        "--credentials",
        CREDENTIALS,
        type=_FILE,
        metavar="FILE",
        help="Sign every request with accessKey and secretKey of FILE, in the layout"
        " of Java's tools.yml.",
    ),
    click.option(
        "--tls",
        TLS,
        metavar="any|CA.pem",
        help="Encrypt, and trust any certificate or those of this authority.",
    ),
    click.option(
        "--tls-cert",
        TLS_CERT,
        type=_FILE,
        metavar="FILE",
        help="Certificate to present.",
    ),
    click.option(
        "--tls-key", TLS_KEY, type=_FILE, metavar="FILE", help="Key of --tls-cert."
    ),
)


def with_access(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to *command*, which receives them as the keyword *access*."""

    @wraps(command)
    def run(**given: Any) -> Any:
        stated = {name: given.pop(name) for name in SETTINGS}
        settings = {name: value for name, value in stated.items() if value is not None}
        try:
            access = access_of(settings)
        except AccessError as error:
            raise click.UsageError(str(error)) from None
        return command(access=access, **given)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run

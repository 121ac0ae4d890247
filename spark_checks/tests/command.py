"""``rmqc audit``, called within the process of the tests."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import CliRunner, Result

from cli.audit import audit

Runner = Callable[..., Result]


def run_alone(*arguments: object) -> Result:
    """Return what the command does, by a session of its own if it comes to that."""
    return CliRunner().invoke(audit, [str(one) for one in arguments])

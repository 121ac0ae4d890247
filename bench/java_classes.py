"""
Java classes of ours, compiled where they are first needed.

The compiler is the Java's own, or Eclipse's, one jar, where there is only a runtime.
Classes are kept in the user's cache, by the text that they are of.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from conformance.harness.apache import class_path
from conformance.harness.jars import resolve
from conformance.harness.java import cache_directory, find_java

FOLDER = Path(__file__).with_name("java")
ECJ = "org.eclipse.jdt:ecj:3.40.0"
"""A Java compiler that needs no more than a Java runtime."""


class JavaCompileError(Exception):
    """A class of ours does not compile against a release."""


def compiled(source: Path, release: str) -> Path:
    """Return the directory with the classes of *source*, compiled against *release*."""
    text = source.read_bytes() + release.encode()
    name = f"{source.stem.lower()}-{hashlib.sha256(text).hexdigest()[:16]}"
    folder = cache_directory() / "bench" / name
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as draft:
            command = [*_compiler(), "-cp", class_path(release), "-d", draft]
            run = subprocess.run(
                [*command, str(source)], capture_output=True, text=True, timeout=120
            )
            if run.returncode:
                raise JavaCompileError((run.stdout + run.stderr).strip())
            _keep(Path(draft), folder)
    return folder


def _keep(draft: Path, folder: Path) -> None:
    """Move all classes in *draft* to *folder* at once; another run may be first."""
    folder.parent.mkdir(exist_ok=True)
    whole = draft / "whole"
    classes = list(draft.glob("*.class"))
    whole.mkdir()
    for one in classes:
        one.replace(whole / one.name)
    try:
        whole.replace(folder)
    except OSError:
        if not folder.exists():
            raise


def _compiler() -> list[str]:
    """Return the command of javac where there is one, else of Eclipse's compiler."""
    java = find_java()
    javac = java.with_name("javac")
    if javac.exists():
        return [str(javac)]
    (jar,) = resolve([ECJ], transitive=False)
    return [str(java), "-jar", str(jar), "-8", "-nowarn"]


def whole_class_path(source: Path, release: str, *more: Path) -> str:
    """Return a class path of *source*'s classes, *more* jars and the *release*."""
    first = [str(compiled(source, release)), *(str(jar) for jar in more)]
    return os.pathsep.join([*first, class_path(release)])

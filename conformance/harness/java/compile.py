"""
Java classes of ours, compiled where they are first needed.

The compiler is the Java's own, or Eclipse's, one jar, where there is only a runtime.
Classes are kept in the user's cache, by the text that they are of.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conformance.harness.java.apache import class_path
from conformance.harness.java.jars import resolve
from java_runtime.find_java import find_java
from java_runtime.user_cache import cache_directory

ECJ = "org.eclipse.jdt:ecj:3.40.0"
"""A Java compiler that needs no more than a Java runtime."""


class JavaCompileError(Exception):
    """A class of ours does not compile against a release."""


def compile_sources(sources: Sequence[Path], release: str, *, room: str) -> Path:
    """Return the directory with the classes of *sources*, compiled against *release*.

    In the cache they stand below *room*, under the name of the first source.
    """
    text = b"".join(source.read_bytes() for source in sources) + release.encode()
    name = f"{sources[0].stem.lower()}-{hashlib.sha256(text).hexdigest()[:16]}"
    folder = cache_directory() / room / name
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as draft:
            command = [*_compiler(), "-cp", class_path(release), "-d", draft]
            run = subprocess.run(
                [*command, *map(str, sources)],
                capture_output=True,
                text=True,
                timeout=120,
            )
            if run.returncode:
                raise JavaCompileError((run.stdout + run.stderr).strip())
            _keep(Path(draft), folder)
    return folder


def _keep(draft: Path, folder: Path) -> None:
    """Move all classes in *draft* to *folder* in one step; another run may be first."""
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
        return [str(javac), "-encoding", "UTF-8"]
    (jar,) = resolve([ECJ], transitive=False)
    return [str(java), "-jar", str(jar), "-8", "-nowarn", "-encoding", "UTF-8"]

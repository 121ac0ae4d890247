"""Failures of Spark, each with a reason of one line."""

from __future__ import annotations

import re
import resource
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from spark_checks.file_systems import NotAStoreError

FAILURES = (PySparkException, Py4JJavaError)
"""Errors of a failed Spark job."""
JAVA_HAS_ENDED = "Spark's Java has ended: it was killed, maybe for lack of memory"
_WITHOUT_REASON = "Error initializing SparkContext"
"""Text of Spark's log that precedes the line with the reason."""
_unreadable_file = re.compile(r"^\S*NotAStoreError: (.+)$", re.MULTILINE)
"""Last line of the traceback of a worker that could not read a file."""
_file_error = re.compile(r"^Caused by: java\.io\.IOException: (.+)$", re.MULTILINE)
"""Line of Java's traceback with the reason of a failed read or write of a file."""
OPEN_FILES = 384
"""Smallest limit of open files with which Spark starts on two processors."""
_opens_no_file = re.compile("(DefFound|Initializer|Internal)Error|loop|descriptor")
"""Part of Java's errors where it can open no file, which they do not name."""


class SparkError(Exception):
    """Spark did not start, or failed."""


def failed(error: Exception) -> SparkError | NotAStoreError:
    """Return *error*, one of FAILURES, as an error of one line.

    It is a NotAStoreError if a worker could not read a file of the store.
    """
    if isinstance(error, Py4JJavaError):
        text = str(error.java_exception.getMessage())
    else:
        text = str(error)
    unreadable = _unreadable_file.search(text)
    if unreadable is not None:
        return NotAStoreError(unreadable[1])
    causes = _file_error.findall(str(error))
    return SparkError(causes[-1] if causes else text.splitlines()[0])


def start_failure(error: BaseException, log: Path) -> str:
    """Return the reason of Spark's failure in one line."""
    output = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    lines = [
        line
        for line in output.splitlines()
        if ("rror" in line or "xception" in line) and _WITHOUT_REASON not in line
    ]
    if not lines:
        text = failed(error) if isinstance(error, FAILURES) else error
        lines = str(text).splitlines() or [repr(error)]
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    cause = ""
    if 0 <= limit < OPEN_FILES and _opens_no_file.search(lines[0]):
        cause = f"{limit} open files (ulimit -n) are too few: "
    return f"Spark did not start: {cause}{lines[0].strip()}"

"""Start of a broker on a damaged store, which may refuse it."""

from __future__ import annotations

import shutil
from pathlib import Path

from conformance.harness.process.process import ProcessError
from conformance.harness.targets.target import Target, TargetError
from spec.registry import all_clauses
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE

REFUSES_EMPTY_FILES = "REC-LOAD-001"


def starts(target: Target) -> bool:
    """Start *target*; return whether it serves, and False if its process ended."""
    try:
        target.start()
    except TargetError as error:
        target.kill()
        cause = error.__cause__
        if isinstance(cause, ProcessError) and "ended with" in str(cause):
            return False
        raise
    return True


def put_back(target: Target, saved: Path) -> Path:
    """Kill *target*, let its store be as in *saved*, and return its directory."""
    target.kill()
    store = target.store_path
    assert store is not None
    shutil.rmtree(store)
    shutil.copytree(saved, store)
    return store


def start_after_kill(target: Target) -> None:
    """Start *target* again, without the empty files that a kill may leave.

    A file is made first and gets its size then. Who is killed in between leaves an
    empty one. Releases with the defect of REC-LOAD-001 do not start on it.
    """
    store = target.store_path
    assert store is not None
    if starts(target):
        return
    if all_clauses()[REFUSES_EMPTY_FILES].applies_to(target.release):
        for path in empty_files(store):
            path.unlink()
    target.start()


def empty_files(store: Path) -> list[Path]:
    """Return the files of log and queues that have no byte."""
    folders = [store / COMMIT_LOG, store / CONSUME_QUEUE]
    found = [path for folder in folders for path in folder.rglob("*")]
    return [path for path in found if path.is_file() and not path.stat().st_size]

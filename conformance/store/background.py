"""
What takes a minute to happen, watched from a thread of its own while other tests run.

It begins with the run, and the tests that look at what was seen come last (marker
``patient``). With several workers one of them watches; what it saw is a file, which the
others read.
"""

from __future__ import annotations

import fcntl
import pickle
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Generic, TypeVar, cast

import pytest

from conformance.harness.deadline import wait_until
from conformance.harness.fixtures import OPTIONS
from conformance.harness.target import Target, TargetError, parse_target

Seen = TypeVar("Seen")
Watching = Callable[[Target, threading.Event], Seen]
"""Watches a target, not yet started; may end early when the event is set."""
PATIENCE_S = 600.0


class Background(Generic[Seen]):
    """One thing that is watched, by this worker or by another."""

    def __init__(self, config: pytest.Config, watching: Watching[Seen]) -> None:
        self._path = _shared_directory(config) / f"{watching.__name__}.seen"
        self._is_shared = is_worker(config)
        self._options = config.stash[OPTIONS]
        self._watching = watching
        self._ending = threading.Event()
        self._lock = _try_lock(self._path.with_suffix(".lock"))
        self._thread = threading.Thread(target=self._watch, daemon=True)
        if self._lock is not None:
            self._thread.start()

    def result(self) -> Seen:
        """Return what was seen, once it is over.

        Raises what went wrong, as a fault of the target and not of any clause.
        """
        wait_until(
            self._path.exists, what=f"{self._path.name} is there", timeout_s=PATIENCE_S
        )
        # Our own file, written a moment ago by a worker of this run.
        seen = pickle.loads(self._path.read_bytes())  # noqa: S301
        if isinstance(seen, TargetError):
            raise seen
        return cast(Seen, seen)

    def close(self) -> None:
        """End it, also in the middle."""
        self._ending.set()
        if self._lock is not None:
            self._thread.join()
            self._lock.close()
        if not self._is_shared:
            shutil.rmtree(self._path.parent)

    def _watch(self) -> None:
        options = self._options
        try:
            target = parse_target(options.target, profile=options.profile)
            try:
                seen: object = self._watching(target, self._ending)
            finally:
                target.close()
        # Whoever asks for the result is told, in another thread or process.
        except BaseException as error:
            seen = TargetError(f"{type(error).__name__}: {error}")
        waiting = self._path.with_suffix(".part")
        waiting.write_bytes(pickle.dumps(seen))
        waiting.replace(self._path)


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process is one of several workers (pytest-xdist's)."""
    return hasattr(config, "workerinput")


def _shared_directory(config: pytest.Config) -> Path:
    """Return a directory that all workers of this run have, and no other run."""
    if is_worker(config):
        return Path(config.option.basetemp).parent  # each worker's is one below
    return Path(mkdtemp(prefix="rocketmq-conformance-seen-"))


def _try_lock(path: Path) -> IO[bytes] | None:
    """Return *path* locked, None where another worker has locked it."""
    lock = path.open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock

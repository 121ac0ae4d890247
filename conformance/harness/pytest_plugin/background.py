"""
Observations that take minutes, made in background threads while other tests run.

An observation starts with the run. Tests of its result run last (marker ``patient``)
and get it from a fixture with its name. With several workers, one of them observes; the
result is a file that the others read. If it dies, the next that needs the result does.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from conformance.harness.blocked.preconditions import (
    PRECONDITION_ERRORS,
    first_line,
    lacks_request,
)
from conformance.harness.blocked.skips import blocked, unsupported
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.peer_errors import WrongOpaqueError
from conformance.harness.process.workspace import Workspace, try_lock
from conformance.harness.pytest_plugin.fixtures import OPTIONS, TARGET_OWNER
from conformance.harness.targets.target import Target, TargetError

Observation = Callable[[pytest.Config, threading.Event], object]
"""Returns its result; may end early when the event is set."""
PATIENCE_S = 600.0
PAUSE_S = 0.1
LOCK = ".lock"
"""Suffix of the file that the observing worker has locked."""
ENDED = ".ended"
"""Suffix of the file of a worker that has run its tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Result of an observation whose requests the target refused."""

    reason: str
    is_unsupported: bool
    """Whether the target does not have a request."""


class ObservationError(Exception):
    """An exception of an observation's own code."""


class _Observer:
    """Thread that makes one observation, and writes its result to *path*."""

    def __init__(
        self,
        config: pytest.Config,
        path: Path,
        observation: Observation,
        lock: IO[bytes],
    ) -> None:
        self._config = config
        self._path = path
        self._observation = observation
        self._lock = lock
        """Lock on the observation, which no other worker makes meanwhile."""
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._observe, daemon=True)
        self._thread.start()

    def close(self, *, interrupted: bool) -> None:
        """End it, also in the middle once no other worker has tests left."""
        while self._thread.is_alive() and not interrupted:
            if _have_all_ended(self._config):
                break
            self._thread.join(PAUSE_S)
        self._ending.set()
        self._thread.join()
        self._lock.close()

    def _observe(self) -> None:
        """Write the result of the observation, or its error, to the file."""
        try:
            with CONVERSATIONS.apart():  # they are no frames of the tests meanwhile
                result = pickle.dumps(self._observation(self._config, self._ending))
        # The error is raised to readers of the result, in any thread or process.
        except BaseException as error:
            result = pickle.dumps(_result_of(self._path.stem, error))
        waiting = self._path.with_suffix(".part")
        waiting.write_bytes(result)
        waiting.replace(self._path)


def _result_of(name: str, error: BaseException) -> Obstacle | Exception:
    """Return the result of the observation *name*, which raised *error*."""
    if isinstance(error, PRECONDITION_ERRORS):
        reason = f"{name}: {first_line(error)}"
        if isinstance(error, WrongOpaqueError):
            reason = f"blocked by {error.clause}, {reason}"
        return Obstacle(reason=reason, is_unsupported=lacks_request(error))
    if isinstance(error, TargetError):
        return TargetError(str(error))
    return ObservationError(f"{type(error).__name__}: {error}")


class Background:
    """One observation, made by this worker or by another."""

    def __init__(
        self, config: pytest.Config, name: str, observation: Observation
    ) -> None:
        self._workspace = None if _is_worker(config) else Workspace()
        shared = self._workspace.path if self._workspace else _shared_directory(config)
        self._path = shared / f"{name}.seen"
        self._config = config
        self._observation = observation
        self._observer = self._started_observer()

    def _started_observer(self) -> _Observer | None:
        """Return an observer, or None where another worker observes or has done so."""
        lock = try_lock(self._path.with_suffix(LOCK))
        if lock is None:
            return None
        if self._path.exists():
            lock.close()
            return None
        return _Observer(self._config, self._path, self._observation, lock)

    def result(self) -> object:
        """Return the result, once the observation has ended.

        Raises its error, which is not a failure of any clause.
        """
        self._wait()
        seen = self._read()
        if isinstance(seen, Obstacle):
            if seen.is_unsupported:
                unsupported(seen.reason)
            blocked(seen.reason)
        if isinstance(seen, TargetError | ObservationError):
            raise seen
        return seen

    def ended_result(self) -> object:
        """Return the result, or None before the end and after an error."""
        seen = self._read() if self._path.exists() else None
        return None if isinstance(seen, Obstacle | BaseException) else seen

    def _wait(self) -> None:
        """Wait for the result. Begin again where the worker that observes has died."""
        late_at = time.monotonic() + PATIENCE_S
        while not self._path.exists():
            if self._observer is None:
                self._observer = self._started_observer()
                if self._observer is not None:
                    late_at = time.monotonic() + PATIENCE_S
            if time.monotonic() > late_at:
                name = self._path.stem
                raise ObservationError(f"{name} has no result after {PATIENCE_S:g} s")
            time.sleep(PAUSE_S)

    def _read(self) -> object:
        # Our own file, written a moment ago by a worker of this run.
        return pickle.loads(self._path.read_bytes())  # noqa: S301

    def close(self, *, interrupted: bool) -> None:
        """End it, also in the middle once no other worker has tests left."""
        if self._observer is not None:
            self._observer.close(interrupted=interrupted)
        if self._workspace is not None:
            self._workspace.close()


BEGUN = pytest.StashKey[dict[str, Background]]()
"""Observations of this run, by name."""


def begin(
    session: pytest.Session,
    observations: Mapping[str, Observation],
    allows: Callable[[Target], bool],
) -> None:
    """Start the observations that selected tests need, where the target *allows* it."""
    config = session.config
    if config.option.collectonly or config.stash[OPTIONS].read_only:
        return
    needed = {
        name for one in session.items for name in getattr(one, "fixturenames", ())
    }
    wanted = {name: one for name, one in observations.items() if name in needed}
    try:
        if not wanted or not allows(config.stash[TARGET_OWNER].target()):
            return
    except TargetError:
        return  # each test gets the error
    begun = config.stash.setdefault(BEGUN, {})
    for name, observation in wanted.items():
        begun[name] = Background(config, name, observation)


def result_of(config: pytest.Config, name: str) -> object:
    """Return the result of the observation *name*, once it has ended.

    The test is unsupported where the target does not allow the observation.
    """
    begun = config.stash.get(BEGUN, {}).get(name)
    if begun is None:
        target = config.stash[TARGET_OWNER].target()
        target.broker_address()  # without a broker, that is the reason
        unsupported(f"{target.text} does not allow the observation {name}")
    return begun.result()


def ended_result_of(config: pytest.Config, name: str) -> object:
    """Return the result of *name* if it was begun and has ended, else None."""
    begun = config.stash.get(BEGUN, {}).get(name)
    return None if begun is None else begun.ended_result()


def end(session: pytest.Session, exit_status: int) -> None:
    """End what was begun, if it has not been ended."""
    interrupted = exit_status == pytest.ExitCode.INTERRUPTED
    if _is_worker(session.config):
        _end_mark(session.config).touch()
    begun = session.config.stash.get(BEGUN, {})
    while begun:
        begun.popitem()[1].close(interrupted=interrupted)


def _is_worker(config: pytest.Config) -> bool:
    """Return whether this process is one of several workers (pytest-xdist's)."""
    return hasattr(config, "workerinput")


def _end_mark(config: pytest.Config) -> Path:
    """Return the file that exists once this worker has run its tests."""
    worker = config.workerinput["workerid"]  # type: ignore[attr-defined] # xdist's
    return _shared_directory(config) / f"{worker}{ENDED}"


def _have_all_ended(config: pytest.Config) -> bool:
    """Return whether each worker of the run has run its tests."""
    if not _is_worker(config):
        return True
    ended = list(_shared_directory(config).glob(f"*{ENDED}"))
    count = config.workerinput["workercount"]  # type: ignore[attr-defined] # xdist's
    return len(ended) >= int(count)


def _shared_directory(config: pytest.Config) -> Path:
    """Return a directory that all workers of this run have, and no other run."""
    return Path(config.option.basetemp).parent  # each worker's is one below

"""Store directory as a target: only its files are examined."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from conformance.harness.targets.store_files import (
    WRITTEN_MAX,
    log_paths,
    written_bytes,
)
from conformance.harness.targets.target import Capability, Target, TargetError
from spec.store.file_names import (
    CHECKPOINT,
    COMMIT_LOG,
    CONFIG,
    CONSUME_QUEUE,
    INDEX,
)

READ_FILES = COMMIT_LOG, CONSUME_QUEUE, INDEX, CONFIG, CHECKPOINT
"""Files and directories of a store that tests read."""


class StoreTarget(Target):
    """The store of a broker that does not run. It is read, never written."""

    capabilities = frozenset({Capability.STORE})

    def start(self) -> None:
        """Check that there is a store."""
        path = Path(self.rest).expanduser().absolute()
        if not os.path.isdir(path):
            missing = "is not a directory" if os.path.exists(path) else "does not exist"
            raise TargetError(f"{path} {missing}")
        check_readable(path)
        if not (path / COMMIT_LOG).is_dir():
            raise TargetError(f"{path} is not a store: it has no directory commitlog")
        if not log_paths(path):
            raise TargetError(f"{path} is not a store: commitlog has no file of a log")
        check_size(path)
        self.store_path = path


def check_readable(store: Path) -> None:
    """Raise TargetError with the first path of a store that cannot be read."""
    for path in _paths(store):
        mode = os.R_OK | os.X_OK if path.is_dir() else os.R_OK
        # A file of a running broker may be gone meanwhile.
        if not os.access(path, mode) and os.access(path, os.F_OK):
            raise TargetError(f"{path} cannot be read: {os.strerror(errno.EACCES)}")


def _paths(store: Path) -> Iterator[Path]:
    """Yield *store* and the paths in it that tests read; directories come first."""
    yield store
    for name in READ_FILES:
        yield store / name
        yield from sorted((store / name).rglob("*"))


def check_size(store: Path) -> None:
    """Raise TargetError for a store that is too large for tests."""
    size = written_bytes(store)
    if size > WRITTEN_MAX:
        raise TargetError(
            f"{store} has {size / 1e6:,.0f} MB; tests read stores up to"
            f" {WRITTEN_MAX / 1e6:,.0f} MB. `rmqc audit` checks a store of any size"
        )

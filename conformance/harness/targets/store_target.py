"""Store directory as a target: only its files are examined."""

from __future__ import annotations

from pathlib import Path

from conformance.harness.targets.store_files import WRITTEN_MAX, written_bytes
from conformance.harness.targets.target import Capability, Target, TargetError


class StoreTarget(Target):
    """The store of a broker that does not run. It is read, never written."""

    capabilities = frozenset({Capability.STORE})

    def start(self) -> None:
        """Check that there is a store."""
        path = Path(self.rest).expanduser().resolve()
        if not (path / "commitlog").is_dir():
            raise TargetError(f"{path} is no store: it has no directory commitlog")
        check_size(path)
        self.store_path = path


def check_size(store: Path) -> None:
    """Raise TargetError for a store that is too large for tests."""
    size = written_bytes(store)
    if size > WRITTEN_MAX:
        raise TargetError(
            f"{store} has {size / 1e6:,.0f} MB; tests read stores up to"
            f" {WRITTEN_MAX / 1e6:,.0f} MB. `rmqc audit` checks a store of any size"
        )

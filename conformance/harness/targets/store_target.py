"""Store directory as a target: only its files are examined."""

from __future__ import annotations

from pathlib import Path

from conformance.harness.targets.target import Capability, Target, TargetError


class StoreTarget(Target):
    """The store of a broker that does not run. It is read, never written."""

    capabilities = frozenset({Capability.STORE})

    def start(self) -> None:
        """Check that there is a store."""
        path = Path(self.rest).expanduser().resolve()
        if not (path / "commitlog").is_dir():
            raise TargetError(f"{path} is no store: it has no directory commitlog")
        self.store_path = path

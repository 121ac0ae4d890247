"""Apache RocketMQ itself as a target: its jars on a Java virtual machine."""

from __future__ import annotations

from conformance.harness.java.apache import ApacheCluster
from conformance.harness.java.apache_conf import (
    FIRST_WITH_CONTROLLER,
    SPARING_SETTINGS,
    WITHOUT_TLS,
    is_in_controller_mode,
)
from conformance.harness.java.ivy import JarsUnavailableError
from conformance.harness.java.name_servers import NameServer, acquire, release_to_pool
from conformance.harness.releases import PINNED
from conformance.harness.targets.started.started_target import ClusterTarget
from conformance.harness.targets.target import EVERYTHING, Capability, TargetError
from java_runtime.find_java import JavaUnavailableError
from spec.clause import release_key

STORE_TYPE, ROCKSDB = "storeType", "defaultRocksDB"
"""Setting of the kind of store, and its value for RocksDB (Java: StoreType)."""


class JvmTarget(ClusterTarget[ApacheCluster]):
    """A name server and a broker of a real release, with a store of their own."""

    capabilities = EVERYTHING - {Capability.CLOCK}
    failures = (*ClusterTarget.failures, JarsUnavailableError, JavaUnavailableError)
    _borrowed: NameServer | None = None

    def _configure(self) -> None:
        """Set the release."""
        if self.rest not in PINNED:
            known = ", ".join(PINNED)
            raise TargetError(f"{self.text!r}: the release is one of {known}")
        self.release = self.rest
        if self.conf.get(STORE_TYPE) == ROCKSDB:
            # Neither consume queues nor tables are in the files of other stores.
            self.capabilities -= {Capability.STORE}
        if is_in_controller_mode(self.conf):
            if release_key(self.release) < FIRST_WITH_CONTROLLER:
                raise TargetError(f"{self.text!r}: controllers exist from 5.0 on")
            # Its slaves have another protocol (Java: AutoSwitchHAService).
            self.capabilities -= {Capability.REPLICATION}

    def _create_cluster(self) -> ApacheCluster:
        is_shared = self.shares_name_server and self.access.tls is None
        if is_shared and not is_in_controller_mode(self.conf):
            self._borrowed = self._borrowed or acquire(self.rest)
        others = (self._borrowed.address,) if self._borrowed else ()
        return ApacheCluster(
            self.rest,  # a profile sets `release`, which selects the clauses
            directory=self.directory,
            conf={
                **SPARING_SETTINGS,
                **(WITHOUT_TLS if self._borrowed else {}),
                **self.conf,
            },
            store=self.store_path,
            starts_often=True,
            name_servers=others,
        )

    def _end(self) -> None:
        try:
            super()._end()
        finally:
            if self._borrowed is not None:
                borrowed, self._borrowed = self._borrowed, None
                release_to_pool(borrowed)

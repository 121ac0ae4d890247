"""
Real name servers that serve one target after another.

Most targets are started for their broker, but a broker wants a name server to register
with, and a Java one takes about as long to start. One that knows nothing any more is as
good as a new one: its brokers are gone, their topics with them, and nobody has ever
set a value in it. Only such a one is lent again; any other ends.
"""

from __future__ import annotations

import atexit

from conformance.harness.address import Address
from conformance.harness.apache import ApacheCluster
from conformance.harness.closing import Closing
from conformance.harness.cluster_info import knows_nothing
from conformance.harness.workspace import Workspace

_idle: dict[str, list[NameServer]] = {}
"""By release, those that wait for their next broker."""


class NameServer(Closing):
    """A running name server with a directory of its own, and nothing in it yet."""

    def __init__(self, release: str) -> None:
        self.release = release
        self._workspace = Workspace()
        self._cluster = ApacheCluster(
            release, directory=self._workspace.path, starts_often=True
        )
        try:
            self._cluster.start(broker=False)
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> Address:
        """Where it listens."""
        return self._cluster.namesrv

    @property
    def is_as_new(self) -> bool:
        """Whether it runs, and knows no broker, no topic and no value."""
        return not self._cluster.values_path.exists() and knows_nothing(self.address)

    def close(self) -> None:
        """End it; remove its directory."""
        self._cluster.close()
        self._workspace.close()


def borrow(release: str) -> NameServer:
    """Return a name server of *release* that knows nothing."""
    idle = _idle.setdefault(release, [])
    while idle:
        found = idle.pop()
        if found.is_as_new:
            return found
        found.close()
    return NameServer(release)


def give_back(borrowed: NameServer) -> None:
    """Keep *borrowed*, whose broker has ended, for somebody else."""
    _idle[borrowed.release].append(borrowed)


@atexit.register
def _close_all() -> None:
    while _idle:
        _, waiting = _idle.popitem()
        for one in waiting:
            one.close()

"""
Pool of real name servers, each of which serves one target after another.

Most targets are started for their broker. A broker needs a name server to register
with, and a Java one takes about as long to start. An empty name server is as good as a
new one: without brokers, topics and KV values. Only such a one is reused; any other
ends. They have no TLS: tests of TLS start a name server of their own.
"""

from __future__ import annotations

import atexit

from conformance.harness.client.address import Address
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.java.apache_conf import WITHOUT_TLS
from conformance.harness.java.cluster_info import is_empty_name_server
from conformance.harness.process.context import Closing
from conformance.harness.process.workspace import Workspace

_idle: dict[str, list[NameServer]] = {}
"""By release, those that wait for their next broker."""


class NameServer(Closing):
    """A running name server with a directory of its own, and nothing in it yet."""

    def __init__(self, release: str) -> None:
        self.release = release
        self._workspace = Workspace()
        self._cluster = ApacheCluster(
            release,
            directory=self._workspace.path,
            conf=WITHOUT_TLS,
            starts_often=True,
        )
        try:
            self._cluster.start(broker=False)
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> Address:
        """Address of its socket."""
        return self._cluster.namesrv

    @property
    def is_as_new(self) -> bool:
        """Whether it runs, without any broker, topic or value."""
        return not self._cluster.values_path.exists() and is_empty_name_server(
            self.address
        )

    def close(self) -> None:
        """End it; remove its directory."""
        self._cluster.close()
        self._workspace.close()


def acquire(release: str) -> NameServer:
    """Return an empty name server of *release*."""
    idle = _idle.setdefault(release, [])
    while idle:
        found = idle.pop()
        if found.is_as_new:
            return found
        found.close()
    return NameServer(release)


def release_to_pool(released: NameServer) -> None:
    """Return *released*, whose broker has ended, to the pool."""
    _idle[released.release].append(released)


@atexit.register
def _close_all() -> None:
    while _idle:
        _, waiting = _idle.popitem()
        for one in waiting:
            one.close()

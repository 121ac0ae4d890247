"""
The target ``proxied:``: the reference behind the mutating proxy.

The proxies of name server and broker run in this process. Requests of the broker to
other servers do not pass them.
"""

from __future__ import annotations

from contextlib import ExitStack

from conformance.harness.client.address import Address
from conformance.harness.targets.embedded import EmbeddedTarget
from conformance.harness.targets.target import EVERYTHING, Capability
from conformance.mutating_proxy.proxy import PROXY_HOST, Proxy

VIP_DISTANCE = 2
"""A broker also listens two ports below its own."""


class ProxiedTarget(EmbeddedTarget):
    """The reference, with a proxy before each of its two ports."""

    capabilities = EVERYTHING - {Capability.REPLICATION}

    def _configure(self) -> None:
        """Let the broker announce the proxy's address."""
        super()._configure()
        self.conf.setdefault("brokerIP1", PROXY_HOST)
        if self.conf["brokerIP1"] == "127.0.0.1":
            self.conf["brokerIP1"] = PROXY_HOST
        self._proxies = ExitStack()

    def _start(self) -> None:
        super()._start()
        assert self.namesrv is not None
        assert self.broker is not None
        self._proxies.close()
        self.namesrv = self._proxies.enter_context(Proxy(self.namesrv)).address
        vip = Address(self.broker.host, self.broker.port - VIP_DISTANCE)
        self._proxies.enter_context(Proxy(vip))
        self.broker = self._proxies.enter_context(Proxy(self.broker)).address

    def stop(self) -> None:
        """End the proxies, then the reference in order."""
        self._proxies.close()
        super().stop()

    def kill(self) -> None:
        """End the proxies and kill the reference."""
        self._proxies.close()
        super().kill()

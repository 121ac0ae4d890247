"""
The target ``proxied:``: the reference, or a real release, behind the mutating proxy.

The proxies of name server and broker run in this process. Requests of the broker to
other servers do not pass them. ``proxied:`` is the reference, ``proxied:5.3.3`` Apache
RocketMQ of that release.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from conformance.harness.client.address import Address
from conformance.harness.targets.started.embedded import EmbeddedTarget
from conformance.harness.targets.started.jvm import JvmTarget
from conformance.harness.targets.started.started_target import StartedTarget
from conformance.harness.targets.target import EVERYTHING, Capability, Target
from conformance.mutating_proxy.proxy import PROXY_HOST, Proxy
from spec.wire.remoting.connection import VIP_PORT_DISTANCE

"""A broker also listens two ports below its own."""


class _Proxied(StartedTarget):
    """A target with a proxy before each of its two ports."""

    def _configure(self) -> None:
        """Let the broker announce the proxy's address."""
        super()._configure()
        for name in ("brokerIP1", "brokerIP2"):
            if self.conf.get(name, "127.0.0.1") == "127.0.0.1":
                self.conf[name] = PROXY_HOST
        self._proxies = ExitStack()
        self._behind: tuple[Address, Address] | None = None

    def _start(self) -> None:
        self.shares_name_server = False  # each has a proxy
        is_restarted = self._behind is not None
        if self._behind is not None:
            self.namesrv, self.broker = self._behind
        super()._start()  # type: ignore[safe-super] # the other base has it
        assert self.namesrv is not None
        assert self.broker is not None
        self._proxies.close()
        self._behind = self.namesrv, self.broker
        vip = Address(self.broker.host, self.broker.port - VIP_PORT_DISTANCE)
        self.namesrv, self.broker, _ = (
            self._proxies.enter_context(Proxy(one, is_restarted=is_restarted)).address
            for one in (self.namesrv, self.broker, vip)
        )

    def stop(self) -> None:
        """End the proxies, then the target in order."""
        self._proxies.close()
        super().stop()

    def kill(self) -> None:
        """End the proxies and kill the target."""
        self._proxies.close()
        super().kill()


class ProxiedReference(_Proxied, EmbeddedTarget):
    """The reference behind the proxies."""

    capabilities = EVERYTHING - {Capability.REPLICATION, Capability.TLS}


class ProxiedRelease(_Proxied, JvmTarget):
    """Apache RocketMQ behind the proxies."""

    capabilities = JvmTarget.capabilities - {Capability.REPLICATION, Capability.TLS}


def proxied_target(
    text: str, rest: str, conf: Mapping[str, str], store: Path | None
) -> Target:
    """Return the target of *text*: that of a release if *rest* names one."""
    kind = ProxiedRelease if rest else ProxiedReference
    return kind(text, rest, conf, store)

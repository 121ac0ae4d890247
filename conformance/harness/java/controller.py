"""
Controller of Apache RocketMQ from 5.0 on, inside the name server.

With ``enableControllerMode=true`` a broker has no role of its own. It registers with a
controller (Java: ControllerManager), which elects the master of its broker set. Only
then does the broker register with the name server. One controller is a DLedger group of
one peer, so it elects itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.harness.client.address import Address

CONTROLLER_MODE, CONTROLLER = "enableControllerMode", "controllerAddr"
"""Settings of a broker: whether it has a controller, and the addresses of it."""
FIRST_WITH_CONTROLLER = (5, 0)
_PEER = "n0"


def is_in_controller_mode(conf: Mapping[str, str]) -> bool:
    """Return whether a broker with the settings *conf* waits for its election."""
    return conf.get(CONTROLLER_MODE, "").lower() == "true"


def needs_controller(conf: Mapping[str, str]) -> bool:
    """Return whether a broker with the settings *conf* names no running controller."""
    return is_in_controller_mode(conf) and CONTROLLER not in conf


def controller_settings(address: Address, directory: Path) -> dict[str, str]:
    """Return the settings of a name server with a controller that listens on *address*.

    The controller keeps its log below *directory* (5.3.3 common.ControllerConfig).
    """
    return {
        "enableControllerInNamesrv": "true",
        "controllerDLegerGroup": "controllers",
        "controllerDLegerPeers": f"{_PEER}-{address}",
        "controllerDLegerSelfId": _PEER,
        "controllerStorePath": str(directory),
        "mappedFileSize": str(1024 * 1024),
    }

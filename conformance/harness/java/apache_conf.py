"""
Configuration of a real release: settings, logback files and the controller.

The settings are the defaults, except that everything stays on loopback, files are
small, and a nearly full disk does not stop the broker.

From 5.0 on a name server may contain a controller (Java: ControllerManager). With
``enableControllerMode=true`` a broker has no role of its own: it registers with the
controller, which elects the master of its broker set. Only then does the broker
register with the name server. One controller is a DLedger group of one peer, so it
elects itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from conformance.harness.client.address import LOOPBACK, Address
from spec.clause import release_key

ROOM_SETTINGS: Mapping[str, str] = {
    "diskMaxUsedSpaceRatio": "95",
    "rocketmq.broker.diskSpaceWarningLevelRatio": "0.99",
    "rocketmq.broker.diskSpaceCleanForciblyRatio": "0.98",
}
"""Let a broker neither delete nor refuse on a disk that is rather full."""

GUEST_SETTINGS: Mapping[str, str] = {
    "brokerClusterName": "DefaultCluster",
    "brokerName": "broker-a",
    "brokerId": "0",
    "brokerIP1": LOOPBACK,
    "brokerIP2": LOOPBACK,
    "bindAddress": LOOPBACK,
    "autoCreateTopicEnable": "true",
    "mappedFileSizeCommitLog": str(16 * 1024 * 1024),
    "mappedFileSizeConsumeQueue": str(6000 * 20),
    "maxHashSlotNum": "5000",
    "maxIndexNum": "20000",
    **ROOM_SETTINGS,
    # Keeps brokers from rejecting requests on a busy machine.
    "osPageCacheBusyTimeOutMills": "60000",
    "waitTimeMillsInSendQueue": "20000",
    "waitTimeMillsInPullQueue": "20000",
}
"""Settings of every broker."""

SPARING_SETTINGS: Mapping[str, str] = {
    # 5.x spins from a start until this has passed for the first time, three seconds.
    "transactionMetricFlushInterval": "100",
    # Each time 5.x goes through its whole timer wheel: with 5 s it is half of the
    # processor time of an idle broker.
    "timerFlushIntervalMs": "15000",
    # With an interval that passes, 5.5.0 spins from its first ended transaction on
    # (TransactionalMessageServiceImpl#batchSendOpMessage). Each op message is written
    # immediately instead.
    "transactionOpBatchInterval": "3600000",
    "transactionOpMsgMaxSize": "1",
}
"""With many brokers on one machine, idle ones must not use the processor."""

JAVA_PROPERTIES = "rocketmq.", "tls."
"""Settings that begin so are no broker's, but properties of its Java process."""
TLS_MODE, ENFORCING = "tls.server.mode", "enforcing"
"""Property of a server, and its value for a server without plain connections."""
WITHOUT_TLS: Mapping[str, str] = {TLS_MODE: "disabled"}
"""For servers that no test connects to with TLS. By default a server generates an RSA
key: half of the processor time of its start, 0.5 s of 1.1 s."""

MAPED, MAPPED = "maped", "mapped"
"""First word of the settings of file sizes, by release."""
FIRST_WITH_MAPPED = (4, 5, 2)

_LOGBACK = """\
<configuration>
  <appender name="file" class="ch.qos.logback.core.FileAppender">
    <file>{file}</file>
    <encoder><pattern>%d %level %logger{{20}} - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="file"/></root>
</configuration>
"""
CONTROLLER_MODE, CONTROLLER = "enableControllerMode", "controllerAddr"
"""Settings of a broker: whether it has a controller, and the addresses of it."""
SOON_ELECTED = {
    "syncBrokerMetadataPeriod": "1000",
    "syncControllerMetadataPeriod": "1000",
    "brokerHeartbeatInterval": "500",
    "controllerHeartBeatTimeoutMills": "3000",
}
"""Settings of a broker that is elected, or missed, within seconds and not after ten."""
FIRST_WITH_CONTROLLER = (5, 0)
_PEER = "n0"


def write_logging(home: Path) -> None:
    """Write the logback files that 4.x programs insist on below their *home*."""
    directory = home / "conf"
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("namesrv", "broker", "tools"):
        text = _LOGBACK.format(file=home / f"logback-{name}.log")
        (directory / f"logback_{name}.xml").write_text(text, encoding="utf-8")


def both_spellings(conf: Mapping[str, str]) -> dict[str, str]:
    """Return *conf* with file sizes under both names, that of 4.5.1 and that of 4.5.2.

    Each release ignores the other's name.
    """
    older = ((_spelled(key, MAPED), value) for key, value in conf.items())
    newer = ((_spelled(key, MAPPED), value) for key, value in conf.items())
    return {**dict(older), **dict(newer), **conf}


def spelled_as(release: str, conf: Mapping[str, str]) -> dict[str, str]:
    """Return *conf* with the names of file sizes as *release* spells them.

    Up to 4.5.1 they are ``mapedFileSizeCommitLog`` and so on, since 4.5.2
    ``mappedFileSizeCommitLog`` (Java: MessageStoreConfig).
    """
    is_older = release_key(release) < FIRST_WITH_MAPPED
    spelling = MAPED if is_older else MAPPED
    return {_spelled(key, spelling): value for key, value in conf.items()}


def _spelled(key: str, spelling: str) -> str:
    """Return *key* with *spelling* in place of its first word, if that is either."""
    return re.sub(f"^({MAPED}|{MAPPED})(?=File)", spelling, key)


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Write *properties* the way java.util.Properties reads them."""
    lines = []
    for key, value in properties.items():
        escaped = value.replace("\\", "\\\\").replace("\n", "\\n")
        lines.append(f"{key}={escaped}\n")
    path.write_text("".join(lines), encoding="utf-8")


def read_properties(path: Path) -> dict[str, str]:
    """Return the settings in a file of lines with name=value, without escapes."""
    pairs = (line.partition("=") for line in path.read_text("utf-8").splitlines())
    return {name: value for name, equals, value in pairs if equals}


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
        # A broker that was alone in its set, or missed messages, may be elected.
        "enableElectUncleanMaster": "true",
        "mappedFileSize": str(1024 * 1024),
    }

"""
Mounts of a container: settings, a home and the store, from the cluster's directory.

They are mounted at `MOUNT`. Ports are the same inside and outside. The settings are
therefore those of a broker on this machine, except for paths and the name server's
address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.java.apache_conf import (
    GUEST_SETTINGS,
    JAVA_PROPERTIES,
    both_spellings,
    write_properties,
)
from conformance.harness.java.runtime import FAST_START
from conformance.harness.process.ports import PortBlock

MOUNT = "/rmqc"
"""Path in a container of its settings, its home directory and the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerMounts:
    """Files of a cluster of containers, with the environment that points to them."""

    directory: Path
    store_path: Path
    conf: Mapping[str, str]
    """Settings of the broker, as given to the target."""

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of both programs."""
        options = [word for word in FAST_START if word.startswith("--add-opens")]
        extra = ["-Xms64m", "-Xmx512m", "-Xmn32m", f"-Duser.home={MOUNT}/home"]
        extra += ["-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true"]
        extra += [f"-D{key}={value}" for key, value in self._split(java=True).items()]
        return {
            "JAVA_OPT_EXT": " ".join(extra),
            # Java 8, of the official images, does not support and does not need these.
            "JDK_JAVA_OPTIONS": " ".join(options),
        }

    @property
    def volumes(self) -> dict[str, dict[str, str]]:
        """Mounted paths, in the form of the SDK."""
        inside = {
            self.directory / "conf": ("conf", "ro"),
            self.directory / "home": ("home", "rw"),
            self.store_path: ("store", "rw"),
        }
        return {
            str(path): {"bind": f"{MOUNT}/{name}", "mode": mode}
            for path, (name, mode) in inside.items()
        }

    def write(self, ports: PortBlock, *, name_server_host: str) -> None:
        """Write the settings of both programs, which listen on *ports*."""
        for name in ("conf", "home"):
            allow_all_users(self.directory / name)
        others = self._split(java=False)
        own = f"{name_server_host}:{ports.name_server}"
        broker = {
            **others,
            "namesrvAddr": ";".join(filter(None, (own, others.get("namesrvAddr")))),
            "listenPort": str(ports.broker),
            "haListenPort": str(ports.ha),
            "storePathRootDir": f"{MOUNT}/store",
            "storePathCommitLog": f"{MOUNT}/store/commitlog",
        }
        name_server = {
            "listenPort": str(ports.name_server),
            "kvConfigPath": f"{MOUNT}/home/kvConfig.json",
        }
        for name, settings in (("namesrv", name_server), ("broker", broker)):
            path = self.directory / "conf" / f"{name}.conf"
            write_properties(path, settings)
            path.chmod(0o644)

    def _split(self, *, java: bool) -> dict[str, str]:
        """Return the settings that are properties of Java, or those that are not."""
        settings = {**both_spellings(GUEST_SETTINGS), **both_spellings(self.conf)}
        # A socket on loopback in a container is unreachable from outside.
        del settings["bindAddress"]
        return {
            key: value
            for key, value in settings.items()
            if key.startswith(JAVA_PROPERTIES) is java
        }


def allow_all_users(directory: Path) -> None:
    """Let any user read and write what is in *directory*, which is made if missing."""
    directory.mkdir(parents=True, exist_ok=True)
    for path in (directory, *directory.rglob("*")):
        mode = 0o777 if path.is_dir() else 0o666
        if path.stat().st_mode & mode != mode:
            path.chmod(mode)

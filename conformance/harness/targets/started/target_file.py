"""
Target file: TOML that states how to start a foreign peer.

``conformance/targets/template.toml`` explains every key. An error is one line that
names the file and the key. Nothing is started before the whole file has been checked.
"""

from __future__ import annotations

import re
import signal
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.harness.targets.started.toml_values import (
    list_,
    only,
    seconds,
    table_,
    text_,
    texts_by_name,
)
from conformance.harness.targets.target import Capability, TargetError
from spec.clause import release_key
from spec.wire.remoting.request_code import RequestCode

PLACEHOLDERS = (
    *("namesrv_port", "namesrv_addr", "broker_port", "vip_port", "ha_port"),
    "admin_port",
    *("store", "conf", "work", "here", "clock_rate", "python"),
)
"""Placeholders in braces in a command, an environment or a setting."""

NEEDED_WORDS = {
    Capability.STORE: "store",
    Capability.CONFIG: "conf",
    Capability.CLOCK: "clock_rate",
}
"""Claims, each with the key that it requires."""

OF_SEVERAL = {
    Capability.RESTART,
    Capability.KILL,
    Capability.CONFIG,
    Capability.CLOCK,
}
"""Tests that need these start a second peer beside the first."""

_WORD = re.compile(r"\{([a-z_]+)\}")
_TOP = {"release", "capabilities", "refuses"}
_TABLES = {"settings", "environment", "name_server", "admin", "broker", "ports"}
_SIGNALS = {name.removeprefix("SIG") for name in signal.Signals.__members__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program of a peer: how it is started, when it is ready, how it ends."""

    command: tuple[str, ...]
    directory: str = "."
    ready_line: str = ""
    """Beginning of the line that it prints when it is ready; none: it accepts."""
    ready_timeout_s: float = 60.0
    stop_signal: str = "SIGTERM"
    stop_timeout_s: float = 30.0
    kill_signal: str = "SIGKILL"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFile:
    """A peer that can be started by commands."""

    path: Path
    release: str
    broker: Program
    name_server: Program | None = None
    admin: Program | None = None
    """The broker behind a proxy, where that is a program of its own."""
    capabilities: frozenset[Capability] = frozenset({Capability.WIRE})
    refuses: frozenset[int] = frozenset()
    """Codes of the requests that it declares as unsupported."""
    settings: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, int] | None = None
    """The name server's and the broker's, where they cannot be chosen."""

    def texts(self) -> list[str]:
        """Return every text in which placeholders are replaced."""
        programs = filter(None, (self.name_server, self.admin, self.broker))
        words = [word for one in programs for word in (*one.command, one.directory)]
        return [*words, *self.settings.values(), *self.environment.values()]

    @property
    def has_admin(self) -> bool:
        """Whether another address than the broker's creates topics."""
        return any("{admin_port}" in text for text in self.texts())


def fill(text: str, words: Mapping[str, str]) -> str:
    """Return *text* with the placeholders replaced by their *words*."""
    return _WORD.sub(lambda found: words[found[1]], text)


def read_target_file(path: Path) -> TargetFile:
    """Return the content of the file; raise TargetError with its first error."""
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise TargetError(f"{path}: {reason}") from None
    try:
        made = _target_file(path.resolve(), read)
        _check_words(made)
        _check_claims(made)
    except ValueError as error:
        raise TargetError(f"{path}: {error}") from None
    return made


def _target_file(path: Path, read: Mapping[str, object]) -> TargetFile:
    only(read, _TOP | _TABLES, "")
    if "broker" not in read:
        raise ValueError("there is no table [broker], which states how to start it")
    release = text_(read.get("release"), "release")
    release_key(release)
    return TargetFile(
        path=path,
        release=release,
        capabilities=_capabilities(read.get("capabilities", [])),
        refuses=_codes(read.get("refuses", [])),
        settings=texts_by_name(read.get("settings", {}), "settings"),
        environment=texts_by_name(read.get("environment", {}), "environment"),
        broker=_program(read["broker"], "broker"),
        name_server=_optional_program(read, "name_server"),
        admin=_optional_program(read, "admin"),
        ports=_ports(read["ports"]) if "ports" in read else None,
    )


def _optional_program(read: Mapping[str, object], name: str) -> Program | None:
    return _program(read[name], name) if name in read else None


def _program(read: object, where: str) -> Program:
    table = table_(read, where)
    only(table, set(Program.__dataclass_fields__), f"{where}.")
    command = list_(table.get("command"), f"{where}.command")
    if not command:
        raise ValueError(f"{where}.command is empty")
    texts = ("directory", "ready_line", "stop_signal", "kill_signal")
    given = {k: text_(table[k], f"{where}.{k}") for k in texts if k in table}
    stop, kill = (
        _signal(given.get(f"{name}_signal", usual), f"{where}.{name}_signal")
        for name, usual in (("stop", "TERM"), ("kill", "KILL"))
    )
    times = ("ready_timeout_s", "stop_timeout_s")
    limits = {k: seconds(table[k], f"{where}.{k}") for k in times if k in table}
    return Program(
        command=tuple(command),
        directory=given.get("directory", "."),
        ready_line=given.get("ready_line", ""),
        ready_timeout_s=limits.get("ready_timeout_s", 60.0),
        stop_signal=stop,
        stop_timeout_s=limits.get("stop_timeout_s", 30.0),
        kill_signal=kill,
    )


def _check_words(made: TargetFile) -> None:
    """Reject unknown placeholders."""
    for text in made.texts():
        for name in _WORD.findall(text):
            if name not in PLACEHOLDERS:
                known = ", ".join(f"{{{word}}}" for word in PLACEHOLDERS)
                raise ValueError(f"{{{name}}} in {text!r} is not one of {known}")


def _check_claims(made: TargetFile) -> None:
    """Refuse capabilities that cannot be had with these commands."""
    used = {name for text in made.texts() for name in _WORD.findall(text)}
    for capability, word in NEEDED_WORDS.items():
        if capability in made.capabilities and word not in used:
            raise ValueError(f"it claims {capability}, but nothing uses {{{word}}}")
    several = sorted(made.capabilities & OF_SEVERAL)
    if made.ports and several:
        raise ValueError(
            f"with fixed [ports] there is only one peer: it cannot claim {several[0]}"
        )


def _capabilities(read: object) -> frozenset[Capability]:
    names = list_(read, "capabilities")
    for name in names:
        if name not in set(Capability):
            raise ValueError(
                f"capabilities: {name} is not one of {', '.join(Capability)}"
            )
    return frozenset({Capability.WIRE, *map(Capability, names)})


def _codes(read: object) -> frozenset[int]:
    names = list_(read, "refuses")
    for name in names:
        if name not in RequestCode.__members__:
            raise ValueError(f"refuses: there is no request {name}")
    return frozenset(RequestCode[name].value for name in names)


def _ports(read: object) -> tuple[int, int]:
    table = table_(read, "ports")
    only(table, {"name_server", "broker"}, "ports.")
    name_server, broker = table.get("name_server"), table.get("broker")
    for port in (name_server, broker):
        if not isinstance(port, int) or not 0 < port <= 0xFFFF:
            raise ValueError("ports: name_server and broker are two port numbers")
    assert isinstance(name_server, int)
    assert isinstance(broker, int)
    return name_server, broker


def _signal(name: str, where: str) -> str:
    short = name.upper().removeprefix("SIG")
    if short not in _SIGNALS:
        raise ValueError(f"{where}: there is no signal {name}")
    return f"SIG{short}"

"""Settings of a broker that an audit uses, read from its configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spec.layout import LayoutError
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS, decode_delay_levels


class ConfError(Exception):
    """The configuration file cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConf:
    """Settings that change a correct store; None means inferred from the files."""

    commit_log_file_size: int | None = None
    queue_file_size: int | None = None
    timer_log_file_size: int | None = None
    delays: Mapping[int, int] = field(
        default_factory=lambda: delays_in_setting(DEFAULT_DELAY_LEVELS)
    )
    """Milliseconds of each delay level."""
    delays_are_known: bool = False
    """Whether the delays come from a configuration file."""
    is_slave: bool = False
    """Whether the broker is a slave."""


def delays_in_setting(text: str) -> dict[int, int]:
    """Return milliseconds by level of a messageDelayLevel setting.

    Raises LayoutError.
    """
    return dict(enumerate(decode_delay_levels(text).delays_ms, start=1))


def read_broker_conf(path: Path) -> BrokerConf:
    """Return the settings in the broker configuration at *path*."""
    try:
        text = path.read_text("utf-8", "replace")  # comments may have any encoding
    except OSError as error:
        raise ConfError(f"{path} cannot be read: {error}") from None
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and line[0] not in "#!"]
    found = {name.strip(): value.strip() for name, _, value in pairs}
    levels = found.get("messageDelayLevel", DEFAULT_DELAY_LEVELS)
    try:
        delays = delays_in_setting(levels)
    except LayoutError:
        reason = f"messageDelayLevel={levels} is not a list of delays"
        raise ConfError(f"{path}: {reason}") from None
    queue_size = _size(found, "ConsumeQueue", path)
    return BrokerConf(
        commit_log_file_size=_size(found, "CommitLog", path),
        timer_log_file_size=_size(found, "TimerLog", path),
        queue_file_size=queue_size and -(-queue_size // UNIT_SIZE) * UNIT_SIZE,
        delays=delays,
        delays_are_known=True,
        is_slave=found.get("brokerRole") == "SLAVE",
    )


def _size(found: Mapping[str, str], what: str, path: Path) -> int | None:
    """Return the size of one kind of file; 4.x misspells the setting's name."""
    for name in (f"mapedFileSize{what}", f"mappedFileSize{what}"):
        if name in found:
            if not found[name].isdecimal() or int(found[name]) == 0:
                raise ConfError(f"{path}: {name}={found[name]} is not a size")
            return int(found[name])
    return None

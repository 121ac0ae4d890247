"""
Faults by name, and their text form: ``busy:10%``, ``slow:2s``, ``slow:200ms:50%``.

The share is that of the requests which the fault is about; without one it is all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct


class FaultError(Exception):
    """The text names no fault, or is malformed."""


REQUEST_FAULTS = {
    "busy": "Sends and pulls get SYSTEM_BUSY (2) and are not handled.",
    "error": "Sends and pulls get SYSTEM_ERROR (1) and are not handled.",
    "flush-timeout": "Sends are stored and get FLUSH_DISK_TIMEOUT (10).",
    "no-route": "The name server has no route: TOPIC_NOT_EXIST (17).",
    "stale-route": "Routes also name a broker that does not exist any more.",
}
"""Description of each fault of a response, by name."""
FRAME_FAULTS = {
    "close": "The broker closes the connection and sends no response.",
    "cut-frames": "The broker sends half of a response and closes the connection.",
    "garbage": "The header of a response is unreadable.",
    "no-response": "The broker handles the request and sends no response.",
    "repeat": "The broker sends a response twice.",
    "slow": "A response is late, as in slow:2s or slow:200ms; by default 1 s.",
    "wrong-opaque": "A response has the opaque of no request.",
}
"""Description of each fault of a frame, by name."""
FAULTS: Mapping[str, str] = {**REQUEST_FAULTS, **FRAME_FAULTS}
NONE = "none"
"""The value that ends all faults."""
DEFAULT_DELAY_MS = 1000
_DELAY = re.compile(r"(\d{1,6})(ms|s)")
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)%")


class Fault(Struct, frozen=True):
    """One fault with the share of requests that have it."""

    name: str
    share: float = 1.0
    delay_ms: int = 0

    def __str__(self) -> str:
        """Return the text form."""
        delay = [f"{self.delay_ms}ms"] if self.delay_ms else []
        return ":".join([self.name, *delay, f"{self.share:.3%}".replace(".000", "")])


def parse_fault(text: str) -> Fault:
    """Return the fault of a text; raises `FaultError`."""
    name, *words = text.strip().split(":")
    if name not in FAULTS:
        names = ", ".join([*sorted(FAULTS), f"or {NONE} alone"])
        raise FaultError(f"{name!r} is not a fault: {names}")
    shares = [one for one in words if _SHARE.fullmatch(one)]
    delays = [one for one in words if name == "slow" and _DELAY.fullmatch(one)]
    for word in words:
        if word not in (*shares, *delays):
            time = "a time such as 2s, or " if name == "slow" else ""
            raise FaultError(f"{text!r}: {word!r} is not {time}a share such as 10%")
    if len(shares) > 1 or len(delays) > 1:
        raise FaultError(f"{text!r}: one share and one time at most")
    share = float(shares[0].rstrip("%")) / 100 if shares else 1.0
    if share > 1:
        raise FaultError(f"{text!r}: a share is at most 100%")
    return Fault(name, share, _delay_ms(delays, name))


def _delay_ms(delays: list[str], name: str) -> int:
    """Return the delay of a fault in ms, 0 for a fault that has none."""
    if not delays:
        return DEFAULT_DELAY_MS if name == "slow" else 0
    found = _DELAY.fullmatch(delays[0])
    assert found is not None
    return int(found[1]) * (1000 if found[2] == "s" else 1)


def parse_faults(texts: Iterable[str]) -> tuple[Fault, ...]:
    """Return the faults of texts that may be comma lists; raises `FaultError`.

    The text `NONE` alone has none.
    """
    names = [name for text in texts for name in text.split(",")]
    if [name.strip() for name in names] == [NONE]:
        return ()
    return tuple(map(parse_fault, names))

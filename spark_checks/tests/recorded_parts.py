"""Recorded stores of optional files, at their full sizes."""

from __future__ import annotations

from pathlib import Path

PARTS = Path(__file__).resolve().parents[2] / "fixtures" / "parts"
RELEASES = ("4.4.0", "4.6.0", "4.9.7", "5.3.3", "5.4.0", "5.5.0")
SIZES = {
    "commitlog": 65_536,
    "consumequeue": 400,
    "consumequeue_ext": 100,
    "batchconsumequeue": 184,
}
"""Bytes of the files, whose zeros at the end are not recorded."""
OF_TIMER = "config/timercheck"
"""Checkpoint of a timer log, which has 100 MB and is not recorded whole."""


def store_of(release: str, root: Path, *, has_timer: bool = False) -> Path:
    """Return the recorded parts of a store of *release*, at their full sizes."""
    left_out = "" if has_timer else OF_TIMER
    for file in (PARTS / release).rglob("*"):
        name = file.relative_to(PARTS / release)
        is_used = name.parts[0] in {*SIZES, "config"} and str(name) != left_out
        if file.is_file() and is_used:
            size = SIZES.get(name.parts[0], 0)
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes().ljust(size, b"\0"))
    return root

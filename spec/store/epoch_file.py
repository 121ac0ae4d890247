"""
The file with the epochs of a broker in controller mode, one for each master.

A slave compares its epochs with those of its master, and cuts off its log what they do
not share. The file has lines of text: the number of epochs, a checksum of the rest, and
the epochs. Its previous content stays as ``.bak``.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple

from spec.clause import Clause, Level
from spec.integers import body_crc, parse_java_int, parse_java_long
from spec.layout import LayoutError

EPOCH_FILE = "epochFileCheckpoint"
"""The file's name (5.0.0 store.config.MessageStoreConfig#getStorePathEpochFile)."""
SIZE_MAX = 1 << 20
"""More bytes than any file of epochs has; readers leave out the rest."""

_FILE = "5.3.3 org.apache.rocketmq.common.utils.CheckpointFile"
_CACHE = "5.3.3 org.apache.rocketmq.store.ha.autoswitch.EpochFileCache"

EPOCH_LINES = Clause(
    id="STORE-EPOCHFILE-001",
    level=Level.MUST,
    text=(
        "The lines of epochFileCheckpoint are the number of epochs, the CRC-32 of the "
        "rest without its highest bit, and each epoch as NUMBER-BEGIN. BEGIN is a "
        "commit-log offset."
    ),
    source=f"{_FILE}#write; {_CACHE}$EpochEntrySerializer#toLine",
    since="5.0",
)
EPOCH_OF_MASTER = Clause(
    id="STORE-EPOCHFILE-002",
    level=Level.MUST,
    text=(
        "A broker that becomes the master adds an epoch that begins at its log's end, "
        "unless the last epoch begins there."
    ),
    source="5.3.3 org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAService"
    f"#changeToMaster; {_CACHE}#appendEntry",
    since="5.0",
)
EPOCH_NUMBERS = Clause(
    id="STORE-EPOCHFILE-003",
    level=Level.QUIRK,
    text=(
        "A broker in controller mode does not start if epochFileCheckpoint lacks a "
        "number, or has other characters in one. It does not read .bak."
    ),
    source=f"{_FILE}#read catches only IOException",
    since="5.0",
)
EPOCH_COPY = Clause(
    id="STORE-EPOCHFILE-004",
    level=Level.MUST,
    text=(
        "If the number of epochs or the CRC-32 in epochFileCheckpoint is wrong, a "
        "broker in controller mode reads .bak."
    ),
    source=f"{_FILE}#read",
    since="5.0",
)


class Epoch(NamedTuple):
    """The time of one master."""

    number: int
    begin: int
    """Commit-log offset of its first record."""


class EpochFileError(LayoutError):
    """The file disagrees with itself. The broker reads its copy."""


class EpochNumberError(EpochFileError):
    """A number is missing, or has other characters. The broker does not start."""


def encode_epochs(epochs: Sequence[Epoch]) -> bytes:
    """Return the file with *epochs*."""
    lines = "".join(f"{one.number}-{one.begin}\n" for one in epochs).encode()
    return f"{len(epochs)}\n{body_crc(lines)}\n".encode() + lines


def decode_epochs(data: bytes) -> list[Epoch]:
    """Return the epochs of a file with the content *data*, as a broker reads it.

    A checksum of 0 agrees with everything. Raises EpochFileError. An empty list makes a
    broker read the copy, too.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise EpochFileError("bytes that are not UTF-8") from None
    lines = [line.rstrip("\n") for line in StringIO(text, newline=None)]
    count, checksum = (_number(line) for line in [*lines, None, None][:2])
    epochs = [one for line in lines[2:] for one in _epochs_of(line)]
    if len(epochs) != count:
        raise EpochFileError(f"the number {count} for {len(epochs)} epochs")
    crc = body_crc("".join(f"{line}\n" for line in lines[2:]).encode())
    if checksum not in {0, crc}:
        raise EpochFileError(f"the CRC-32 {checksum}, not {crc}")
    return epochs


def _number(text: str | None) -> int:
    found = parse_java_int(text)
    if found is None:
        raise EpochNumberError(f"{text or ''!r} in place of a number")
    return found


def _epochs_of(line: str) -> list[Epoch]:
    """Return the epoch of *line*; an empty list if it has not two parts."""
    parts = line.rstrip("-").split("-")  # Java drops empty parts at the end
    if len(parts) != 2:
        return []
    begin = parse_java_long(parts[1])
    if begin is None:
        raise EpochNumberError(f"{parts[1]!r} in place of a number")
    return [Epoch(_number(parts[0]), begin)]

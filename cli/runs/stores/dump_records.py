"""Records of a store or of one commit-log file, selected, and written line by line."""

from __future__ import annotations

import base64
import csv
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from cli.runs.stores.commit_log_files import (
    commit_log_files,
    file_size_of,
    mapped,
    size_before_cut,
    special_entry,
    too_long_files,
    unreadable_entries,
    without_preallocated,
)
from reference.core.salvage.readable_records import (
    DamagedRange,
    FoundRecord,
    readable_records,
)
from spec.layout import LayoutError
from spec.printable import printable, printable_json
from spec.store.file_names import (
    COMMIT_LOG,
    CONSUME_QUEUE,
    offset_of,
    reason_without_log,
)
from spec.store.message_record import Record, SystemFlag
from spec.wire.bodies.zlib_stream import COMPRESSION_TYPE, ZLIB_TYPES, inflate
from spec.wire.message.properties import Property, decode_properties, keys_of

INFLATED_SIZE_MAX = 64 * 1024 * 1024
"""A body that inflates to more is written as it is stored."""
_COMPRESSED = int(SystemFlag.COMPRESSED)
"""As an integer: "&" of an enum takes a tenth of a dump's time."""
COLUMNS = ("offset", "topic", "queue", "queueOffset", "storeTime", "keys", "bodySize")


class DumpError(Exception):
    """The source is not a commit log."""


class Selection(NamedTuple):
    """The messages that are written."""

    topic: str | None
    key: str | None
    begin_ms: int | None
    end_ms: int | None

    def has(self, record: Record) -> bool:
        """Return whether *record* is one of them."""
        if self.topic is not None and record.topic != self.topic:
            return False
        if self.begin_ms is not None and record.stored_at_ms < self.begin_ms:
            return False
        if self.end_ms is not None and record.stored_at_ms >= self.end_ms:
            return False
        if self.key is None:
            return True
        if self.key not in record.properties:  # most have not
            return False
        properties = decode_properties(record.properties)
        return self.key in (*keys_of(properties), properties.get(Property.UNIQ_KEY))


def parts_of(source: Path) -> Iterator[FoundRecord | DamagedRange | str]:
    """Yield the records and damaged ranges of a store or a commit-log file.

    One line precedes them for each entry that is not a file or is longer than others.
    """
    if source.is_file():
        if source.absolute().parts[-4:-3] == (CONSUME_QUEUE,):
            raise DumpError(f"{source} is a consume queue: rmqc inspect prints it")
        try:
            files = [(offset_of(source.name), source)]
        except ValueError as error:
            raise DumpError(f"{source} is not named as a commit-log file") from error
    else:
        reason = reason_without_log(os.listdir(source))
        if reason:
            raise DumpError(f"{source} {reason}")
        files = commit_log_files(source / COMMIT_LOG)
        if special := special_entry(source / COMMIT_LOG):
            raise DumpError(f"{special} is a pipe, socket or device")
        yield from unreadable_entries(source / COMMIT_LOG)
    if not files:
        raise DumpError(f"{source} is not a store: {COMMIT_LOG} has no file")
    size = file_size_of(files)
    yield from too_long_files(files, size)
    files = without_preallocated(files)
    end = files[0][0]
    for one in files:
        base, path = one
        if base > end:
            yield DamagedRange(end, base)
        is_last = one == files[-1]
        left = size_before_cut(source, one, size) if is_last else size
        with mapped(path, left) as data:
            end = base + len(data)
            yield from readable_records(data, base, is_last=is_last)


Writer = Callable[[FoundRecord], None]
DELETE = b"\x7f"
"""The only character of ASCII that JSON may have and a terminal does not print."""


def json_writer(out: BinaryIO) -> Writer:
    """Return a writer of an object a line, printable also on a terminal."""

    def write(found: FoundRecord) -> None:
        line = msgspec.json.encode(as_object(found))
        if DELETE in line or not line.isascii():
            line = printable_json(line.decode("utf-8")).encode("utf-8")
        out.write(line + b"\n")

    return write


def as_object(found: FoundRecord) -> dict[str, object]:
    """Return a message as JSON shows it."""
    record = found.record
    body, compression = body_of(record)
    properties = decode_properties(record.properties)
    if not record.properties.isascii():
        properties = {_text(name): _text(text) for name, text in properties.items()}
    shown: dict[str, object] = {
        "offset": found.offset,
        "topic": _text(record.topic),
        "queue": record.queue_id,
        "queueOffset": record.queue_offset,
        "bornTime": record.born_at_ms,
        "storeTime": record.stored_at_ms,
        "bornHost": str(record.born_host),
        "storeHost": str(record.store_host),
        "properties": properties,
        "flag": record.flag,
        "sysFlag": record.system_flags,
        "reconsumeTimes": record.reconsume_times,
    }
    if record.prepared_transaction_offset:
        shown["preparedTransactionOffset"] = record.prepared_transaction_offset
    if compression:
        shown["compression"] = compression
    try:
        shown["body"] = body.decode("utf-8")
    except UnicodeDecodeError:
        shown["bodyBase64"] = base64.b64encode(body).decode("ascii")
    return shown


def csv_writer(out: BinaryIO) -> Writer:
    """Return a writer of a row a message, without the body; the header is written.

    Characters of names and keys that are not printable are replaced.
    """

    class Lines:
        def write(self, line: str) -> int:
            return out.write(line.encode("utf-8", "replace"))

    rows = csv.writer(Lines())
    rows.writerow(COLUMNS)

    def write(found: FoundRecord) -> None:
        record = found.record
        keys = decode_properties(record.properties).get(Property.KEYS, "")
        numbers = record.queue_id, record.queue_offset, record.stored_at_ms
        texts = printable(record.topic), *numbers, printable(keys)
        rows.writerow((found.offset, *texts, len(record.body)))

    return write


def body_writer(out: BinaryIO) -> Writer:
    """Return a writer of a body a line, as it was sent."""

    def write(found: FoundRecord) -> None:
        out.write(body_of(found.record)[0] + b"\n")

    return write


WRITERS: dict[str, Callable[[BinaryIO], Writer]] = {
    "json": json_writer,
    "csv": csv_writer,
    "bodies": body_writer,
}


def body_of(record: Record) -> tuple[bytes, str]:
    """Return the body as it was sent, and the compression that is left, or nothing."""
    if not record.system_flags & _COMPRESSED:
        return record.body, ""
    if record.system_flags & COMPRESSION_TYPE not in ZLIB_TYPES:
        return record.body, "other"
    try:
        return inflate(record.body, INFLATED_SIZE_MAX), ""
    except zlib.error:
        return record.body, "invalid"
    except LayoutError:
        return record.body, "too large"


def describe(damaged: DamagedRange | str) -> str:
    """Return one line about a damaged range, or the line of an entry."""
    if isinstance(damaged, str):
        return damaged
    return (
        f"no readable message from {damaged.begin} to {damaged.end} of the commit log"
        f" ({damaged.end - damaged.begin:,} bytes)"
    )


def _text(text: str) -> str:
    """Return *text* with a replacement for bytes that are not UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

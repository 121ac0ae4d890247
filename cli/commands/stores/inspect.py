"""
``rmqc inspect``: explain the bytes of a file, of hex digits or of an id.

The file is only read. What it is follows from its path, where it lies in a store,
and otherwise from its content.
"""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import click

from cli.exports.headers import header_tables
from cli.options.colours import coloured
from cli.options.common import URL_GIVEN
from cli.options.releases import release_option
from cli.options.selection import unknown_name
from cli.runs.stores.commit_log_files import commit_log_files, record_around
from conformance.harness.failure.capture_text import (
    MAGIC,
    CaptureError,
    capture_text,
)
from conformance.harness.report.terminal.line_width import wrapped
from spec.layout import LayoutError
from spec.recognise import KINDS, recognise
from spec.store.file_names import COMMIT_LOG, FileKind, StoreFile, store_file
from spec.store.index_file import slot_count_of
from spec.views.any_layout import LAYOUT_VIEWS, layout_of_path
from spec.views.view import Reading, Recognition

VIEWS = {**LAYOUT_VIEWS, **KINDS}
"""Readings of the bytes, by the value of ``--as``."""
READ_MAX = 17 * 1024 * 1024
"""Bytes in one read: the largest frame, and a little more."""


class Unreadable(click.ClickException):
    """The input is not a file, hex, or a format of RocketMQ."""

    exit_code = 2


class Layout(click.Choice[str]):
    """Name of a layout; the error suggests similar names."""

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return *value* if it is a name."""
        if value not in self.choices:
            self.fail(unknown_name(value, self.choices, "layout"), param, ctx)
        return value


@click.command()
@click.argument("what", metavar="FILE[@OFFSET] | HEX | MSGID | UNIQKEY")
@click.option(
    "--as",
    "kind",
    type=Layout(sorted(VIEWS)),
    metavar="LAYOUT",
    help="Read the bytes as this layout, without recognition. One of"
    f" {', '.join(sorted(VIEWS))}.",
)
@click.option(
    "--count",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    help="Explain this many consecutive structures.",
)
@release_option("Explain the values of this release, as 4.6.")
@click.option(
    "--slots",
    type=click.IntRange(min=1),
    help="Slots of the index file (maxHashSlotNum). By default the size of the file"
    " determines them, with four items for every slot.",
)
@click.option(
    "--brief", is_flag=True, help="Leave out releases and public issues below fields."
)
@click.option(
    "--full", is_flag=True, help="Show values, JSON bodies and hex whole, however long."
)
def inspect(
    *,
    what: str,
    kind: str | None,
    count: int,
    release: str | None,
    slots: int | None,
    brief: bool,
    full: bool,
) -> None:
    """Explain bytes: what they are, field by field, and what is wrong with them.

    OFFSET is a byte position in FILE, decimal or 0x hex. In a commit-log file it may
    also be an offset of the whole log. The meaning of a value follows it, with the ids
    of its clauses (see `rmqc spec show`). Differences between releases and public
    issues follow the fields, once for each kind of structure. Of a capture (.pcapng) in
    a report, each frame is printed in a line.

    Exit codes: 0 nothing is wrong, 1 a checksum or a position is wrong, 2 the bytes
    are not in a format of RocketMQ.
    """
    path, position = _place(what)
    if path is not None and (text := _capture_text(path)):
        click.echo(text)
        return
    file = _file_of(path) if path else None
    kind = kind or _kind_of(path)
    reading = Reading(
        release=release,
        slot_count=slots or _slot_count(path, file),
        is_brief=brief,
        is_full=full,
        headers=header_tables(),
    )
    brief_one = replace(reading, is_brief=True)
    is_sound, seen = True, set[str]()
    for number in range(count):
        data = _read(path, position, what)
        try:
            # Most structures are of the kind before: they are read once, briefly.
            found = _recognised(
                data, file, position, kind, brief_one if seen else reading
            )
            if seen and found.kind not in seen:
                found = _recognised(data, file, position, kind, reading)
        except LayoutError as error:
            raise Unreadable(_refusal(error, path, position, len(data))) from error
        if number:
            click.echo()
        seen.add(found.kind)
        text = f"{found.kind}, {found.size} bytes\n{found.text}"
        click.echo(coloured(wrapped(text)))
        if path is not None and found.record_offset is not None:
            _echo_record_command(path, found.record_offset)
        is_sound &= found.is_sound
        position += found.size
        if path is None or position >= path.stat().st_size:
            break
    sys.exit(0 if is_sound else 1)


def _echo_record_command(path: Path, offset: int) -> None:
    """Print the command for the record at *offset* in the log beside a queue's file."""
    logs = (folder / COMMIT_LOG for folder in path.parents)
    log = next((one for one in logs if one.is_dir()), None)
    for begin, file in commit_log_files(log) if log is not None else ():
        if begin <= offset < begin + file.stat().st_size:
            command = shlex.join(["rmqc", "inspect", f"{file}@{offset}"])
            click.echo(f"\n    record: {command}")


def _capture_text(path: Path) -> str:
    """Return the frames of a capture as text; empty for other files."""
    try:
        with path.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                return ""
            return capture_text(MAGIC + stream.read())
    except CaptureError as error:
        raise Unreadable(f"{path}: {error}") from None
    except OSError:
        return ""  # reported where the bytes are read


def _recognised(
    data: bytes,
    file: StoreFile | None,
    position: int,
    kind: str | None,
    reading: Reading,
) -> Recognition:
    if kind is not None:
        return VIEWS[kind](data, position, reading)
    return recognise(data, file=file, position=position, reading=reading)


def _refusal(error: LayoutError, path: Path | None, position: int, read: int) -> str:
    """Return the reason why the *read* bytes at *position* are not a structure."""
    if path is None:
        return error.reason
    file = _file_of(path)
    if file is not None and file.kind is FileKind.COMMIT_LOG:
        begin = record_around(path, position)
        if begin is not None:
            around = f"the one around it begins at {begin}: {path}@{begin}"
            return f"{path}@{position}: no record begins here; {around}"
    is_part = position + read < path.stat().st_size
    remark = f" (only {READ_MAX:,} bytes are read)" if is_part else ""
    return f"{path}@{position}: {error.reason}{remark}"


def _kind_of(path: Path | None) -> str | None:
    """Return the name of the layout that only the path of a store file determines."""
    name = layout_of_path(path.absolute()) if path else None
    return name.replace("_", " ") if name else None


def _slot_count(path: Path | None, file: StoreFile | None) -> int | None:
    """Return the number of slots of an index file with the default proportions."""
    if path is None or file is None or file.kind is not FileKind.INDEX:
        return None
    return slot_count_of(path.stat().st_size) or None


def _place(what: str) -> tuple[Path | None, int]:
    """Return the file and the position that *what* names; no file for hex."""
    if "://" in what:
        raise Unreadable(URL_GIVEN)
    if not what:  # else it is the current directory
        raise Unreadable("the path is empty")
    path = Path(what)
    if _exists(path):
        return path, 0
    name, at, digits = what.rpartition("@")
    if at and _exists(Path(name)):
        return Path(name), _position(Path(name), digits)
    if re.fullmatch(r"(0[xX])?[0-9A-Fa-f\s:]+", what, re.ASCII):
        return None, 0
    raise Unreadable(f"{what!r} is neither a file nor hex digits")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False  # a name that no file can have, such as one far too long


def _position(path: Path, digits: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}|0[xX][0-9A-Fa-f]{1,16}", digits, re.ASCII):
        raise Unreadable(f"{digits!r} is not an offset")
    offset = int(digits, 16) if digits[:2] in {"0x", "0X"} else int(digits)
    size = path.stat().st_size if path.is_file() else 0
    file = _file_of(path)
    if file and file.kind is FileKind.COMMIT_LOG and offset >= size:
        offset -= file.begin_offset
    if path.is_file() and not 0 <= offset < size:
        raise Unreadable(f"{path}: offset {digits} is not in its {size} bytes")
    return offset


def _file_of(path: Path) -> StoreFile | None:
    try:
        return store_file(path.absolute())
    except LayoutError:
        return None


def _read(path: Path | None, position: int, what: str) -> bytes:
    """Return the bytes of the file from *position*, or of the hex digits *what*."""
    if path is None:
        digits = re.sub(r"^0[xX]|[\s:]", "", what)
        if len(digits) % 2:
            raise Unreadable(
                f"{len(digits)} hex digits are not a whole number of bytes"
            )
        return bytes.fromhex(digits)
    try:
        if path.is_dir():
            raise Unreadable(_hint_for_directory(path))
        if not path.is_file():
            raise Unreadable(f"{path} is not a file")
        with path.open("rb") as stream:
            stream.seek(position)
            return stream.read(READ_MAX)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error


def _hint_for_directory(path: Path) -> str:
    """Return the command for a file in the directory *path*, or for all of a store."""
    logs = sorted((path / "commitlog").glob("[0-9]*"))
    files = logs or sorted(one for one in path.iterdir() if one.is_file())
    named = next((shlex.quote(str(one)) for one in files if _file_of(one)), "")
    if logs:
        return (
            f"{path} is a store: `rmqc inspect {named}` explains a file of it,"
            f" `rmqc audit {shlex.quote(str(path))}` checks it"
        )
    such = f", such as {named}" if named else ""
    return f"{path} is a directory: name a file in it{such}"

"""
Origin of the recorded bytes under ``fixtures/``.

``fixtures/MANIFEST.toml`` has one entry for each recording. It names the release and
the program that wrote it, the command that repeats it, the date, and the SHA-256 of
every file. Recorders write the entries; a test of ``conformance/meta`` compares them
with the folders.
"""

from __future__ import annotations

import datetime
import shutil
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from conformance.harness.java.jars import file_sha256

FIXTURES = Path(__file__).parents[3] / "fixtures"
"""The folder of recorded and written data."""

MANIFEST = FIXTURES / "MANIFEST.toml"

HEADING = """\
# Where each recording came from. Written by the scripts in fixtures/record;
# conformance/meta checks that it agrees with the folders.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One folder of bytes that a real release wrote."""

    path: str
    """The folder, relative to ``fixtures``."""
    release: str
    program: str
    command: str
    """Command that repeats the recording, from the checkout's root."""
    date: str
    summary: str
    """Content of the folder, in one sentence."""
    sha256: dict[str, str] = field(default_factory=dict)
    """Each file of the folder."""


def hash_folder(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file below *folder*."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): file_sha256(path) for path in files}


def read_manifest(manifest: Path = MANIFEST) -> dict[str, Recording]:
    """Return all entries by path."""
    if not manifest.exists():
        return {}
    entries = tomllib.loads(manifest.read_text(encoding="utf-8"))["recording"]
    return {entry["path"]: Recording(**entry) for entry in entries}


def write_manifest(entries: dict[str, Recording], manifest: Path = MANIFEST) -> None:
    """Write *entries*, sorted so that a change is a small diff."""
    lines = [HEADING]
    for _, entry in sorted(entries.items()):
        lines.append("[[recording]]")
        for name in ("path", "release", "program", "command", "date", "summary"):
            lines.append(f"{name} = {quoted(getattr(entry, name))}")
        lines.append("[recording.sha256]")
        lines += [
            f"{quoted(name)} = {quoted(pin)}" for name, pin in entry.sha256.items()
        ]
        lines.append("")
    manifest.write_text("\n".join(lines), encoding="utf-8")


def empty_folder(folder: Path) -> Path:
    """Return *folder*, which exists and is empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def add_recording(
    folder: Path, *, release: str, program: str, command: str, summary: str
) -> None:
    """Put the entry for the files in *folder* into the manifest, and report that."""
    entry = Recording(
        path=folder.relative_to(FIXTURES).as_posix(),
        release=release,
        program=program,
        command=command,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        summary=summary,
        sha256=hash_folder(folder),
    )
    write_manifest({**read_manifest(), entry.path: entry})
    sys.stderr.write(f"recorded {folder}\n")


def quoted(text: str) -> str:
    """Return *text* as a TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

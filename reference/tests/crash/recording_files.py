"""
The files of a store in memory, with a record of the operations on a real disk.

`reference.shell.storage.disk` decides what that is: a file gets its size before its
name, a text is replaced by renaming. A test compares the two, call by call.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from reference.tests.crash.trace import (
    Deleted,
    Event,
    Flushed,
    Made,
    Renamed,
    Settled,
    Sized,
    Written,
)
from reference.tests.memory_files import MemoryFile, MemoryFiles

TEXTS = ("config/", "abort")
"""Beginnings of the paths that are replaced as a whole."""
NEW = "new.tmp"
"""The name of a file until it has its size."""


class ImageFiles(MemoryFiles):
    """Files in memory that begin with what a disk image has."""

    def __init__(self, image: Mapping[str, bytes]) -> None:
        super().__init__()
        for path, content in image.items():
            if path.startswith(TEXTS):
                self.texts[path] = content.decode("utf-8", "surrogateescape")
            else:
                file = self.mapped[path] = self.made(path, len(content))
                MemoryFile.write(file, content, 0)

    def made(self, path: str, size: int) -> MemoryFile:
        """Return a new file of zeros."""
        del path
        return MemoryFile(size, self)

    def open(self, path: str, size: int) -> MemoryFile:
        """Return the file *path*; an empty one gets its size, as on a disk."""
        file = self.mapped.get(path)
        if file is None or file.size == 0:
            self.mapped[path] = self.made(path, size)
        return super().open(path, size)

    def image(self) -> dict[str, bytes]:
        """Return every content by its path, as the running system sees it."""
        mapped = {path: bytes(file.bytes) for path, file in self.mapped.items()}
        texts = {
            path: text.encode("utf-8", "surrogateescape")
            for path, text in self.texts.items()
        }
        return mapped | texts


class RecordedFile(MemoryFile):
    """A mapped file that records its operations."""

    def __init__(self, size: int, files: RecordingFiles, number: int) -> None:
        super().__init__(size, files)
        self.number = number
        self._events = files.events

    def write(self, data: bytes | bytearray | memoryview, at: int) -> None:
        """Write, and record it."""
        super().write(data, at)
        self._events.append(Written(self.number, at, bytes(data)))

    def clear(self, at: int) -> None:
        """Write zeros where there is anything else, and flush them."""
        rest = bytes(self.bytes[at:])
        if rest.strip(b"\0"):
            zeros = bytes(len(rest))
            self.bytes[at:] = zeros
            self._events.append(Written(self.number, at, zeros))
            self.flush()

    def flush(self) -> None:
        """Record the flush."""
        self._events.append(Flushed(self.number))


class RecordingFiles(ImageFiles):
    """Files in memory that record the operations on a disk."""

    def __init__(self, image: Mapping[str, bytes], events: list[Event]) -> None:
        self.events = events
        self._numbers = count(len(image))
        self._loaded = {path: number for number, path in enumerate(sorted(image))}
        super().__init__(image)
        self._loaded.clear()

    def made(self, path: str, size: int) -> MemoryFile:
        """Make a file in the order in which the real disk does."""
        number = self._loaded.get(path)
        if number is None:
            number = next(self._numbers)
            self.events += (Made(number, NEW), Sized(number, size), Renamed(NEW, path))
        return RecordedFile(size, self, number)

    def delete(self, path: str) -> None:
        """Delete, and record it."""
        if path in self.mapped or path in self.texts:
            self.events.append(Deleted(path))
        super().delete(path)

    def replace_text(self, path: str, text: str) -> None:
        """Write beside it, flush, rename, flush the directory."""
        super().replace_text(path, text)
        number, data = next(self._numbers), text.encode("utf-8", "surrogateescape")
        waiting = f"{path}.tmp"
        self.events += (
            Made(number, waiting),
            Sized(number, len(data)),
            Written(number, 0, data),
            Flushed(number),
            Renamed(waiting, path),
            Settled(),
        )

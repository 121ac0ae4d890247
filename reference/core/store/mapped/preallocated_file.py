"""
The preallocated file: the next file of a queue, created before it is needed.

The directory of a running broker shows it behind the last file with messages. A clean
stop deletes it. A start after a crash finds it empty (Java: AllocateMappedFileService).
"""

from __future__ import annotations

from reference.core.store.mapped.files import Files, FilesError, MappedFile


class PreallocatedFile:
    """At most one empty file."""

    def __init__(self, files: Files, file_size: int) -> None:
        self._files = files
        self._file_size = file_size
        self._path = ""
        self._file: MappedFile | None = None

    def open(self, path: str) -> MappedFile:
        """Return the file *path*, which is the preallocated one or is created now."""
        if self._file is not None and self._path == path:
            file, self._file = self._file, None
            return file
        return self._files.open(path, self._file_size)

    def preallocate(self, path: str) -> None:
        """Create the file *path*. A failure has no effect: `open` tries again."""
        self.discard()
        try:
            self._file = self._files.open(path, self._file_size)
        except FilesError:
            return
        self._path = path

    def discard(self) -> None:
        """Delete the file, if there is one."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._files.delete(self._path)

"""
The spare file: the next file of a row, made before it is needed.

Whoever looks into the directory of a running broker sees it behind the last file
with messages. A clean stop deletes it; after a kill it is found, empty
(Java: AllocateMappedFileService).
"""

from __future__ import annotations

from reference.core.store.mapped.files import Files, FilesError, MappedFile


class PreallocatedFile:
    """At most one file that nothing was written to yet."""

    def __init__(self, files: Files, file_size: int) -> None:
        self._files = files
        self._file_size = file_size
        self._path = ""
        self._file: MappedFile | None = None

    def take(self, path: str) -> MappedFile:
        """Return the file *path*: the spare one, if it is that."""
        if self._file is not None and self._path == path:
            file, self._file = self._file, None
            return file
        return self._files.open(path, self._file_size)

    def prepare(self, path: str) -> None:
        """Make the file *path*, if the disk lets us; nobody needs it yet."""
        self.discard()
        try:
            self._file = self._files.open(path, self._file_size)
        except FilesError:
            return  # whoever needs it will hear of it
        self._path = path

    def discard(self) -> None:
        """Delete the file, if there is one."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._files.delete(self._path)

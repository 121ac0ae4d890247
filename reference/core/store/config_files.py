"""
The JSON files of ``config/``: the state of a broker besides its messages.

A file is replaced as a whole, and its former content becomes its ``.bak``. A start
reads the ``.bak`` if the file is missing or unreadable (Java: ConfigManager).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference.core.store.mapped.files import Files, FilesError
from reference.core.store.recovery.load import Decoded, load_config
from reference.core.store.recovery.rules import REFERENCE
from spec.wire.bodies.fastjson_forms import dumps_pretty
from spec.wire.bodies.json_object import JsonObject


class ConfigFiles:
    """The directory ``config`` of a store."""

    def __init__(self, files: Files) -> None:
        self.notices: dict[str, str] = {}
        """By file that could not be read, a line for the operator."""
        self._files = files
        self._broken: set[str] = set()
        """Files whose .bak is the only good copy."""

    def load(
        self, name: str, decode: Callable[[JsonObject], Decoded]
    ) -> Decoded | None:
        """Return the decoded file *name*, or its decoded .bak.

        None without either. *decode* may raise any error of values of the wrong type.
        Raises FilesError for a .bak that is needed and cannot be read.
        """
        path = f"config/{name}"
        text = self._read(path)
        nulls = REFERENCE.null_texts(name)
        loaded = load_config(text, self._read(f"{path}.bak"), decode, nulls)
        if not loaded.starts:  # [STORE-CONFIG-016]
            raise FilesError(f"{path} {loaded.report}")
        # [STORE-CONFIG-014]
        if loaded.source == "bak":
            self._broken.add(name)
        is_new_store = loaded.source == "nothing" and text is None
        if loaded.source != "file" and not is_new_store:
            self.notices[name] = f"{path} {loaded.report}"
        return loaded.value

    def save(self, name: str, value: Mapping[str, object]) -> None:
        """Write *value* to the file *name*, and its former content to the .bak."""
        path = f"config/{name}"
        before = self._files.read_text(path)
        # [STORE-CONFIG-006]
        text = dumps_pretty(value).decode("utf-8", "surrogatepass")
        if before and name not in self._broken:
            self._files.replace_text(f"{path}.bak", before)  # [STORE-CONFIG-008]
        self._files.replace_text(path, text)
        self._broken.discard(name)

    def _read(self, path: str) -> str | None:
        """Return the text of *path*; empty text if the disk refuses it."""
        try:
            return self._files.read_text(path)
        except FilesError as error:
            self.notices[path] = str(error)
            return ""

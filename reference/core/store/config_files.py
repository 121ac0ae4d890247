"""
The JSON files of ``config/``: the state of a broker besides its messages.

A file is replaced as a whole, and its former content becomes its ``.bak``. A start
reads the ``.bak`` if the file is missing or unreadable (Java: ConfigManager).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from reference.core.store.mapped.files import Files, FilesError
from spec.layout import LayoutError
from spec.wire.bodies.fastjson import loads

TOPICS = "topics.json"
SUBSCRIPTION_GROUPS = "subscriptionGroup.json"
CONSUMER_OFFSETS = "consumerOffset.json"
CONSUMER_FILTERS = "consumerFilter.json"
DELAY_OFFSETS = "delayOffset.json"


class ConfigFiles:
    """The directory ``config`` of a store."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def load(self, name: str) -> dict[object, object] | None:
        """Return the object in the file *name*, or in its .bak; None without either.

        Raises FilesError for a .bak that is needed and cannot be read.
        """
        value = _object(self._files.read_text(f"config/{name}") or "")
        text = self._files.read_text(f"config/{name}.bak")
        if value is not None or not text:
            return value
        value = _object(text)  # [STORE-CONFIG-013] [STORE-CONFIG-014]
        if value is None:  # [STORE-CONFIG-016]
            raise FilesError(f"neither config/{name} nor its .bak can be read")
        return value

    def save(self, name: str, value: Mapping[str, object]) -> None:
        """Write *value* to the file *name*, and its former content to the .bak."""
        path = f"config/{name}"
        before = self._files.read_text(path)
        text = pretty(value)
        if before:
            self._files.replace_text(f"{path}.bak", before)  # [STORE-CONFIG-008]
        self._files.replace_text(path, text)


def pretty(value: object, depth: int = 0) -> str:
    """Return *value* as fastjson's PrettyFormat writes it.

    Tabs indent. A map with integer keys is one line up to its closing brace. An array,
    here a tuple, is one line.
    """
    inner, outer = "\n" + "\t" * (depth + 1), "\n" + "\t" * depth
    if isinstance(value, Mapping) and all(isinstance(name, int) for name in value):
        numbered = [f"{name}:{pretty(value[name], depth + 1)}" for name in value]
        # [STORE-CONFIG-006]
        return f"{{{','.join(numbered)}{outer}}}" if numbered else "{}"
    if isinstance(value, Mapping):
        members = [
            f"{json.dumps(name, ensure_ascii=False)}:{pretty(member, depth + 1)}"
            for name, member in value.items()
            if member is not None
        ]
        return f"{{{inner}{(',' + inner).join(members)}{outer}}}" if members else "{}"
    if isinstance(value, tuple):  # an array, where a list would be a collection
        return f"[{','.join(pretty(item) for item in value)}]"
    if isinstance(value, list):
        items = [pretty(item, depth + 1) for item in value]
        return f"[{inner}{(',' + inner).join(items)}{outer}]" if items else "[]"
    return json.dumps(value, ensure_ascii=False)


def _object(text: str) -> dict[object, object] | None:
    """Return the JSON object in *text*, or None."""
    try:
        value = loads(text)
    except LayoutError:
        return None
    return value if isinstance(value, dict) else None

"""Name servers without a disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference.core.name_server.config import NameServerConfig
from reference.core.name_server.kv_config import Namespaces
from reference.core.name_server.server import NameServer


def name_server(
    *,
    settings: Mapping[str, str] | None = None,
    namespaces: Namespaces | None = None,
    replace_text: Callable[[str, str], None] = lambda _path, _text: None,
) -> NameServer:
    """Return a name server, by default an empty one with the default settings."""
    return NameServer(NameServerConfig(settings), namespaces or {}, replace_text)

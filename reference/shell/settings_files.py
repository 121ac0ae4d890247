"""Files of settings as text, and host names in settings as addresses."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from reference.core.settings import SettingError, Settings, replace_properties
from reference.shell.storage.file_calls import read_text, replace_text


def read_settings_text(path: Path) -> str:
    """Return the text of a file of Java properties.

    Java reads ISO 8859-1, so that comments may have any encoding. UTF-8 comes first.
    """
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def persist_settings(file: Path | None, changes: Mapping[str, str]) -> None:
    """Write *changes* to a *file* of Java properties, if any; all else in it stays.

    4.6.0 writes all settings in place of the file (common.Configuration#persist), and
    to one that no start reads if it has none (broker.BrokerPathConfigHelper).
    """
    if file is None:
        return
    path = file.resolve()  # a link stays one
    text = read_text(path) or ""
    changed = replace_properties(text, changes)
    if changed != text:
        replace_text(path, changed)


def check_settings(path: Path, texts: Mapping[str, str], owner: type[Settings]) -> None:
    """Print a line for each setting of the file *path* that has no effect.

    Raises SettingError for a value of a wrong type or range.
    """
    for warning in owner.warnings(texts):
        sys.stderr.write(f"{path}: {warning}\n")
    owner(texts)  # its construction parses each value


def resolve(host: str) -> str:
    """Return the numeric address of a host name, IPv4 where it has both."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SettingError(f"the host {host!r} cannot be resolved: {error}") from None
    addresses = sorted(found, key=lambda one: one[0] != socket.AF_INET)
    return re.sub(r"%.*", "", str(addresses[0][4][0]))


def resolve_address(setting: str, text: str) -> tuple[str, int]:
    """Return the numeric address and the port of ``host:port`` in *setting*."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not host:
        raise SettingError(f"{setting}: {text!r} is not an address such as host:9876")
    return resolve(host.strip("[]")), int(port)

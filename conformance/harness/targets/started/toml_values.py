"""Checks of TOML values: a text, a list, a table or a time."""

from __future__ import annotations

from collections.abc import Mapping


def text_(read: object, where: str) -> str:
    """Return *read*, which must be a text."""
    if not isinstance(read, str):
        raise ValueError(f"{where} is no text" if read is not None else f"no {where}")
    return read


def list_(read: object, where: str) -> list[str]:
    """Return *read*, which must be a list of texts."""
    if not isinstance(read, list) or not all(isinstance(one, str) for one in read):
        raise ValueError(f"{where} is no list of texts")
    return read


def table_(read: object, where: str) -> Mapping[str, object]:
    """Return *read*, which must be a table."""
    if not isinstance(read, dict):
        raise ValueError(f"{where} is no table")
    return read


def texts_by_name(read: object, where: str) -> dict[str, str]:
    """Return *read*, which must be a table of texts."""
    table = table_(read, where)
    return {name: text_(value, f"{where}.{name}") for name, value in table.items()}


def only(table: Mapping[str, object], names: set[str], where: str) -> None:
    """Refuse a table with other names than *names*."""
    for name in table:
        if name not in names:
            known = ", ".join(sorted(names))
            raise ValueError(f"there is no {where}{name}; there are {known}")


def seconds(read: object, where: str) -> float:
    """Return *read*, which must be a time in seconds."""
    if not isinstance(read, int | float) or isinstance(read, bool) or read <= 0:
        raise ValueError(f"{where} is no number of seconds above 0")
    return float(read)

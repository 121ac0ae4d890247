"""
Settings as typed attributes: one table for name, type, default and range.

A subclass is the table. Each annotated attribute with a default is a setting, under
Java's name: ``flush_disk_type`` is flushDiskType. Parsing, checks, and the warnings
about names without effect are derived from it. The texts come from Java's properties
files: ``name=value`` a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

from msgspec import Struct

from spec.integers import INT32_MAX, parse_java_long

BOOLEANS = ("true", "false")
PORT_MAX = 65_535
_SEPARATOR = re.compile("[=:]")
_LINE_END = re.compile(r"\r\n|\r|\n")


class SettingError(ValueError):
    """A setting with which a server must not start."""


class Named(Struct, frozen=True):
    """Java's name of a setting, where it is not the attribute's."""

    name: str


class Range(Struct, frozen=True):
    """Least and greatest value of a number; without it, a Java long."""

    least: int
    most: int = INT32_MAX


class Readable(Struct, frozen=True):
    """A check of a text: *read* raises ValueError."""

    read: Callable[[str], object]


class ShownOnly(Struct, frozen=True):
    """Mark of a setting that tools read, and that has no other effect here."""


Port = Annotated[int, Range(1, PORT_MAX)]


class Setting(Struct, frozen=True, kw_only=True):
    """One row of a table."""

    name: str
    attribute: str
    kind: type
    default: object
    marks: tuple[object, ...] = ()

    def parse(self, text: str) -> object:
        """Return the value that *text* is; raise SettingError."""
        value: object = text
        if self.kind is bool:
            value = text.lower() == "true"
        elif self.kind in {int, float}:
            value = self._number(text)
        elif issubclass(self.kind, StrEnum):
            if text not in set(self.kind):
                names = ", ".join(self.kind)
                raise SettingError(f"{self.name} is {text!r}, not one of {names}")
            value = self.kind(text)
        for one in self.marks:
            if isinstance(one, Readable):
                try:
                    one.read(text)
                except ValueError as error:
                    raise SettingError(f"{self.name}: {error}") from None
        return value

    def _number(self, text: str) -> float | int:
        try:
            value = float(text) if self.kind is float else parse_java_long(text)
        except ValueError:
            value = None
        if value is None:
            raise SettingError(f"{self.name} is {text!r}, which is not a number")
        for one in self.marks:
            if isinstance(one, Range) and not one.least <= value <= one.most:
                bounds = f"between {one.least} and {one.most}"
                raise SettingError(f"{self.name} is {value}, not {bounds}")
        return value


class Settings:
    """The settings of one server, and the texts of names that are no settings."""

    TABLE: ClassVar[Mapping[str, Setting]]
    """The settings by Java's name."""
    SPELLINGS: ClassVar[Mapping[str, str]] = {}
    """Other spellings of names, by the spelling."""
    WITHOUT_EFFECT: ClassVar[str] = ""
    """Names of other settings of 4.6.0."""
    OWNER: ClassVar[str]
    """Owner of the settings, in warnings."""

    def __init_subclass__(cls) -> None:
        """Derive the table from the annotated attributes."""
        hints = get_type_hints(cls, include_extras=True)
        given = [name for name in hints if name.islower() and name in vars(cls)]
        rows = [_setting(name, hints[name], vars(cls)[name]) for name in given]
        cls.TABLE = {row.name: row for row in rows}

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        for row in self.TABLE.values():
            setattr(self, row.attribute, row.default)
        self.others: dict[str, str] = {}
        """Texts of names that are no settings here; tools read and change them."""
        for name, text in (texts or {}).items():
            known = self._row(name)
            if known is None:
                self.others[name] = text
            else:
                setattr(self, known.attribute, known.parse(text))
        self.derive()

    def derive(self) -> None:
        """Derive attributes from the settings; raise SettingError if they disagree."""

    def change(self, texts: Mapping[str, str]) -> None:
        """Change known settings; a value of a wrong type or range has no effect."""
        for name, text in texts.items():
            row = self._row(name)
            if row is not None:
                try:
                    setattr(self, row.attribute, row.parse(text))
                except SettingError:  # [ADMIN-CONFIG-003]
                    continue
            elif name in self.others:
                self.others[name] = text
        self.derive()

    def texts(self) -> dict[str, str]:
        """Return every setting as text, under Java's name."""
        values = {one.name: getattr(self, one.attribute) for one in self.TABLE.values()}
        return {**{name: _text(one) for name, one in values.items()}, **self.others}

    @classmethod
    def warnings(cls, texts: Mapping[str, str]) -> list[str]:
        """Return a line for each name or value without effect, in order of names."""
        without_effect, unknown = cls._without_effect(), cls.unknown(texts)
        lines = []
        for name, text in sorted(texts.items()):
            row = cls._row(name)
            is_bool = row is not None and row.kind is bool
            if is_bool and text.lower() not in BOOLEANS:
                lines.append(f"{name} is {text!r}, which counts as false")
            if name in without_effect:
                lines.append(f"{name} has no effect here")
            if name in unknown:
                lines.append(unknown[name])
        return lines

    @classmethod
    def unknown(cls, texts: Mapping[str, str]) -> dict[str, str]:
        """Return a line for each name that is not a setting of 4.6.0, by name."""
        known = cls.TABLE.keys() | cls.SPELLINGS.keys() | cls._without_effect()
        lines = {}
        for name in sorted(texts.keys() - known):
            near = get_close_matches(name, known, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            lines[name] = f"{name} is not a setting of a 4.6.0 {cls.OWNER}{hint}"
        return lines

    @classmethod
    def _without_effect(cls) -> set[str]:
        rows = cls.TABLE.values()
        shown = {row.name for row in rows if ShownOnly() in row.marks}
        return shown | set(cls.WITHOUT_EFFECT.split())

    @classmethod
    def _row(cls, name: str) -> Setting | None:
        return cls.TABLE.get(cls.SPELLINGS.get(name, name))


def _setting(attribute: str, hint: Any, default: object) -> Setting:
    is_marked = get_origin(hint) is Annotated
    kind, *marks = get_args(hint) if is_marked else (hint,)
    own = [mark.name for mark in marks if isinstance(mark, Named)]
    java = re.sub("_(.)", lambda match: match[1].upper(), attribute)
    return Setting(
        name=own[0] if own else java,
        attribute=attribute,
        kind=kind,
        default=default,
        marks=tuple(marks),
    )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_properties(text: str) -> dict[str, str]:
    """Return the settings in *text*; comments and empty lines are passed over."""
    settings = {}
    for line in _LINE_END.split(text):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        name, _, value = _SEPARATOR.sub("=", stripped, count=1).partition("=")
        settings[name.strip()] = value.strip()
    return settings


def replace_properties(text: str, changes: Mapping[str, str]) -> str:
    """Return *text* with *changes* in place of their lines; new ones come last."""
    lines = _LINE_END.split(text.rstrip("\r\n")) if text else []
    found: set[str] = set()
    for number, line in enumerate(lines):
        for name in read_properties(line).keys() & changes.keys():
            lines[number] = f"{name}={changes[name]}"
            found.add(name)
    lines += [f"{name}={changes[name]}" for name in changes if name not in found]
    return "".join(f"{line}\n" for line in lines)


def write_properties(settings: Mapping[str, object]) -> str:
    """Return *settings*, one a line."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())

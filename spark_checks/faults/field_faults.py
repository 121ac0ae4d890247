"""Faults with a wrong value in one field, as faults.toml lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from spark_checks.faults.fault import Found, at
from spark_checks.faults.field_spans import field_spans
from spark_checks.faults.places import IndexPart, Place, end_of, item_places
from spark_checks.faults.site import Site
from spark_checks.generate.part import Placed
from spark_checks.generate.rounds import Kind
from spec.layouts import LAYOUTS
from spec.store.consume_queue import unit_layout
from spec.store.message_record import Record, decode_record, encode_record

_FILE = "file"
_FOUND_BY_FIELD = ("index_header", "checkpoint", _FILE)
"""Structures whose findings are at the wrong value, and not at their begin."""
_READ_MAX = 64
"""Largest number of bytes of a structure that is not of a message."""
_Messages = Mapping[str | int, Placed]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongField:
    """Fault of faults.toml, which describes the members."""

    structure: str
    findings: Sequence[str]
    of: str | int = Kind.ORDINARY
    field: str = ""
    is_sealed: bool = False
    after: Sequence[str] = ()
    byte: int | None = None
    bits: int = 1
    copy: str = ""
    plus: int | None = None
    value: int | None = None
    fill: str | None = None
    replace: Sequence[str] = ()
    number: str | None = None
    size: int | None = None

    def plant(self, site: Site) -> Found:
        """Write the wrong value, and return the findings."""
        (file, begin), messages = self._located(site)
        hit = messages.get(self.of)
        offset, source = 0, b""
        if hit is not None and self.copy:
            other = _message(site, messages, hit, self.copy)
            source = other.entries[self.structure].data
        if hit is not None and self.is_sealed:
            site.change(hit, partial(self._changed, source))
        elif self.structure == _FILE:
            path = site.root / file
            offset, wrong = self._wrong(path.read_bytes() if path.exists() else b"")
            path.write_bytes(wrong)
        else:
            data = site.read(file, begin, _READ_MAX if hit is None else hit.size)
            offset, wrong = self._in_structure(source, data)
            site.overwrite((file, begin), wrong)
        if self.structure not in _FOUND_BY_FIELD:
            offset = 0
        found = []
        for finding, _, where in (text.partition(" ") for text in self.findings):
            places = [(file, begin + offset)]
            if where and hit is not None:
                places = _places(site, messages, hit, where)
            found += [at(finding, place) for place in places]
        return found

    def _located(self, site: Site) -> tuple[Place, _Messages]:
        """Return the place of the structure, and messages by the values of ``of``."""
        if self.structure == _FILE:
            return (str(self.of), 0), {}
        if self.structure == "checkpoint":
            return (self.structure, 0), {}
        if not isinstance(self.of, int):
            kinds = site.take_kinds()
            place = kinds[Kind(self.of)].entries[self.structure].place
            return place, {str(kind): message for kind, message in kinds.items()}
        if self.structure == "blank":
            return end_of(site, self.of), {}
        if self.structure == "index_header":
            return (IndexPart(site, self.of).file, 0), {}
        index = IndexPart(site)
        is_slot = self.structure == "index_slot"
        position_of = index.slot_position if is_slot else index.position
        message = index.message_of(self.of)
        return (index.file, position_of(self.of)), {self.of: message}

    def _changed(self, source: bytes, record: Record) -> Record:
        """Return *record* with the wrong value, which may be one of *source*."""
        _, wrong = self._in_structure(source, encode_record(record))
        return decode_record(wrong, check_crc=False)

    def _in_structure(self, source: bytes, data: bytes) -> tuple[int, bytes]:
        """Return begin of the field, and *data* of the structure with a wrong value.

        The right value is in *source*, the same structure of another message, if any.
        """
        begin, end = self._span(data)
        right = data[begin:end]
        if source:
            right = source[slice(*self._span(source))]
        wrong = right if source and self.plus is None else self._wrong(right)[1]
        return begin, data[:begin] + wrong + data[end:]

    def _span(self, data: bytes) -> tuple[int, int]:
        """Return begin and end of the field in *data* of the structure."""
        layout = LAYOUTS.get(self.structure, unit_layout)  # an LMQ has ordinary units
        spans = field_spans(layout, data)
        if not self.field:
            return 0, max(span.begin + span.size for span in spans.values())
        begin = spans[self.field].begin
        return begin, begin + spans[self.field].size

    def _wrong(self, right: bytes) -> tuple[int, bytes]:
        """Return begin of the change, and the wrong value in place of *right*."""
        begin = 0
        for mark in self.after:
            begin = right.index(mark.encode(), begin) + len(mark.encode())
        rest = right[begin:].lstrip(b"0123456789")
        if self.number is not None:
            return begin, right[:begin] + self.number.encode() + rest
        if self.after and self.plus is not None:
            digits = right[begin : len(right) - len(rest)]
            numbers = (int(digits) + by for by in (self.plus, -self.plus))
            same = next(n for n in map(str, numbers) if len(n) == len(digits))
            return begin, right[:begin] + same.encode() + rest
        if self.replace:
            old, new = (text.encode() for text in self.replace)
            wrong = right.replace(old, new, 1)
            pairs = enumerate(zip(right, wrong, strict=True))
            return next(n for n, (a, b) in pairs if a != b), wrong
        if self.size is not None:
            return 0, right[: self.size].ljust(self.size, b"\0")
        if self.fill is not None:
            kept = right[: self.byte or 0]
            return 0, kept + self.fill.encode() * (len(right) - len(kept))
        if self.plus is not None or self.value is not None:
            before = 0 if self.plus is None else int.from_bytes(right, signed=True)
            value = before + (self.plus or self.value or 0)
            return 0, value.to_bytes(len(right), signed=True)
        flipped = bytearray(right)
        flipped[-1 if self.byte is None else begin + self.byte] ^= self.bits
        return 0, bytes(flipped)


def _places(site: Site, messages: _Messages, hit: Placed, where: str) -> list[Place]:
    """Return the places that *where*, the words behind a finding, names."""
    if where == "items":
        return item_places(site, hit)
    if where in messages:
        return [messages[where].record_place]
    name, _, structure = where.rpartition(" ")
    entries = _message(site, messages, hit, name or structure).entries
    if structure == "unit":
        return [entries["consume_queue_unit"].place]
    return [entries.get(structure, entries["message_record"]).place]


def _message(site: Site, messages: _Messages, hit: Placed, name: str) -> Placed:
    """Return the message *name* of the round of *hit*, or one beside or after it."""
    if name == "beside":
        return site.beside(hit)
    return site.after(hit) if name == "next" else messages.get(name, hit)

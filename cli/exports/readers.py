"""
Readers in other languages: the Wireshark dissector and the Kaitai description.
"""

from __future__ import annotations

from pathlib import Path

from cli.exports.headers import header_tables
from spec.derive.dissector import lua_tables
from spec.derive.kaitai import as_yaml, kaitai_description
from spec.layouts import LAYOUTS

TEMPLATES = Path(__file__).parents[1] / "templates"
GAP = "--TABLES--"
"""Stands in the dissector's own text where its tables belong."""


def dissector() -> str:
    """Return the dissector for Wireshark, a file of Lua."""
    text = (TEMPLATES / "dissector.lua").read_text(encoding="utf-8")
    return text.replace(GAP, lua_tables(LAYOUTS, header_field_names()))


def header_field_names() -> set[str]:
    """Return the names by which header fields can be filtered, of all releases."""
    return {
        field.name
        for table in header_tables().values()
        for header in table.headers.values()
        for field in header.fields
    }


def kaitai() -> str:
    """Return the layouts as a description for Kaitai Struct's compiler."""
    description, left_out = kaitai_description(LAYOUTS)
    lines = [f"# left out: {name}, {why}\n" for name, why in left_out.items()]
    head = "# Written by `rmqc spec export --format ksy`; do not edit.\n"
    return head + "".join(lines) + as_yaml(description)

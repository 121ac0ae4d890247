"""
Readers in other languages: the Wireshark dissector and the Kaitai description.
"""

from __future__ import annotations

import json
from pathlib import Path

from spec.derive.dissector import lua_tables
from spec.derive.kaitai import as_yaml, kaitai_description
from spec.layouts import LAYOUTS

ROOT = Path(__file__).parents[2]
TEMPLATES = Path(__file__).parents[1] / "templates"
GAP = "--TABLES--"
"""Stands in the dissector's own text where its tables belong."""


def dissector() -> str:
    """Return the dissector for Wireshark, a file of Lua."""
    text = (TEMPLATES / "dissector.lua").read_text(encoding="utf-8")
    return text.replace(GAP, lua_tables(LAYOUTS, header_field_names()))


def header_field_names() -> set[str]:
    """Return the names by which header fields can be filtered, of all releases."""
    tables = (json.loads(path.read_text(encoding="utf-8")) for path in _tables())
    return {
        field["name"]
        for table in tables
        for header in table["headers"].values()
        for field in header["fields"]
    }


def _tables() -> list[Path]:
    """Return the recorded tables of header fields, one file a release."""
    return sorted((ROOT / "fixtures" / "headers").glob("[0-9]*.json"))


def kaitai() -> str:
    """Return the layouts as a description for Kaitai Struct's compiler."""
    description, left_out = kaitai_description(LAYOUTS)
    lines = [f"# left out: {name}, {why}\n" for name, why in left_out.items()]
    head = "# Written by `rmqc spec export --format ksy`; do not edit.\n"
    return head + "".join(lines) + as_yaml(description)

"""
The layouts of the store, compiled for the paths that every message takes.
"""

from __future__ import annotations

from struct import Struct

unit_codec = Struct(">qiq")
item_codec = Struct(">iqii")
slot_codec = Struct(">i")
index_header_codec = Struct(">qqqqii")
checkpoint_codec = Struct(">qqq")
blank_codec = Struct(">iI")

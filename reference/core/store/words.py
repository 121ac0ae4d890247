"""
One property out of many, without reading the others.

The plain way is `spec.wire.properties.decode_properties`; the tests hold the two
together. Dispatch looks for four names in the properties of every message.
"""

from __future__ import annotations

from spec.wire.properties import NAME_END, VALUE_END, decode_properties


def word(properties: str, name: str) -> str | None:
    """Return the value of the property *name*, None without one."""
    start = properties.rfind(name + NAME_END)
    if start < 0:
        return None
    begin = start + len(name) + 1
    end = properties.find(VALUE_END, begin)
    value = properties[begin:] if end < 0 else properties[begin:end]
    is_whole_name = start == 0 or properties[start - 1] == VALUE_END
    if not is_whole_name or not value or NAME_END in value:
        return decode_properties(properties).get(name)  # an odd one: read them all
    return value

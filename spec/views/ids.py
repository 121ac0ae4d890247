"""Views of the two ids of a message: the broker's and the producer's."""

from __future__ import annotations

from ipaddress import ip_address

from spec.layout import LayoutError
from spec.views.view import (
    LOG_OFFSET_MAX,
    FieldClauses,
    Reading,
    Recognition,
    note,
    paragraphs,
    to_know,
    tree,
    wrong_notes,
)
from spec.wire.message import message_id as ids
from spec.wire.message import unique_key as keys
from spec.wire.message.message_id import decode_message_id, layout_of_message_id
from spec.wire.message.unique_key import (
    UniqueKey,
    decode_unique_key,
    layout_of_unique_key,
)

MESSAGE_ID_CLAUSES: FieldClauses = {
    "": (ids.MESSAGE_ID_FORM, ids.MESSAGE_ID_FORM_V6, ids.MESSAGE_ID_CASE),
}
DAY_MS = 86_400_000
LONGEST_MONTH_MS = 31 * DAY_MS + 3_600_000
"""With the hour that summer time gives back at its end."""
UNIQUE_KEY_CLAUSES: FieldClauses = {
    "process_id": (
        keys.UNIQUE_KEY_PROCESS_LOW_BEFORE,
        keys.UNIQUE_KEY_PROCESS_HIGH,
        keys.UNIQUE_KEY_PROCESS_LOW,
    ),
    "since_month_ms": (keys.UNIQUE_KEY_TIME,),
    "": (keys.UNIQUE_KEY_FORM, keys.UNIQUE_KEY_FORM_V6, keys.UNIQUE_KEY_STAYS),
}


def message_id_view(data: bytes, position: int, reading: Reading) -> Recognition:
    """Return the view of a message id."""
    host, offset = decode_message_id(data.hex())
    if host.port == 0 or not 0 <= offset < LOG_OFFSET_MAX:
        raise LayoutError(f"offset {offset} of {host} is not a place in a commit log")
    layout = layout_of_message_id(data)
    text = tree(layout, data, reading, MESSAGE_ID_CLAUSES, base=position)
    query = note(" ", "record", f"at {offset} of the commit log of {host}")
    known = to_know(MESSAGE_ID_CLAUSES, reading)
    shown = paragraphs(text, query, known)
    return Recognition(kind="message id", text=shown, size=len(data))


def unique_key_view(data: bytes, position: int, reading: Reading) -> Recognition:
    """Return the view of a unique key."""
    key = decode_unique_key(data.hex())
    layout = layout_of_unique_key(data)
    text = tree(layout, data, reading, UNIQUE_KEY_CLAUSES, base=position)
    made = note(" ", "made", f"{_when(key)}, the producer's time")
    is_sound = key.since_month_ms <= LONGEST_MONTH_MS
    wrong = {} if is_sound else {"since_month_ms": "longer than a month"}
    known = to_know(UNIQUE_KEY_CLAUSES, reading)
    shown = paragraphs(text, made, *wrong_notes(wrong), known)
    return Recognition(kind="unique key", text=shown, size=len(data), is_sound=is_sound)


def maker_of(text: str) -> str:
    """Return maker and time of the unique key *text*; "" if it is not Java's."""
    try:
        key = decode_unique_key(text)
    except LayoutError:
        return ""
    return f"by {ip_address(key.address)}, {_when(key)}, number {key.counter}"


def _when(key: UniqueKey) -> str:
    days, rest = divmod(key.since_month_ms, DAY_MS)
    clock = f"{rest // 3_600_000:02}:{rest // 60_000 % 60:02}:{rest // 1000 % 60:02}"
    return f"day {days + 1} of a month, {clock}"

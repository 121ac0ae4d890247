"""One property out of many is what reading them all would give."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from reference.core.store.commitlog.dispatch_request import property_value
from spec.wire.message.properties import decode_properties

PIECES = st.sampled_from(["KEYS", "TAGS", "aKEYS", "k", "", "\x01", "\x02", "x y"])


@given(text=st.lists(PIECES, max_size=12).map("".join))
@example("KEYS\x01a\x02KEYS\x01b\x02")
@example("KEYS\x01a\x02KEYS\x01\x02")
@example("aKEYS\x01a\x02")
@example("KEYS\x01a\x01\x02")
@example("KEYS\x01a")
def test_a_word_is_found_as_if_all_were_read(text: str) -> None:
    for name in ("KEYS", "TAGS"):
        assert property_value(text, name) == decode_properties(text).get(name)

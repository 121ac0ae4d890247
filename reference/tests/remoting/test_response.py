"""A response encoded by a template has the same bytes as without it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.core.remoting.response import Response, ResponseTemplate, encode_response
from spec.wire.remoting.command import decode_command

INT32 = st.integers(-(2**31), 2**31 - 1)
CHANGING = ("msgId", "queueId", "queueOffset")
REGIONS = st.sampled_from(["DefaultRegion", 'a "quoted" one', "100%", "%s", "\u00e4\n"])


@given(
    code=st.integers(0, 50),
    region=REGIONS,
    is_traced=st.booleans(),
    opaque=INT32,
    message_id=st.text("0123456789ABCDEF,", max_size=70),
    queue_id=INT32,
    offset=st.integers(-(2**63), 2**63 - 1),
)
def test_a_template_changes_no_byte(
    code: int,
    region: str,
    is_traced: bool,
    opaque: int,
    message_id: str,
    queue_id: int,
    offset: int,
) -> None:
    fixed: dict[str, object] = {"MSG_REGION": region, "TRACE_ON": is_traced}
    template = ResponseTemplate(Response(code, None, fixed), CHANGING)
    values = (message_id, queue_id, offset)
    fields = {**fixed, **dict(zip(CHANGING, values, strict=True))}
    expected = encode_response(opaque, Response(code, None, fields))
    response = Response(code, None, fields, template=template)
    assert encode_response(opaque, response) == expected
    assert decode_command(expected).opaque == opaque


def test_a_pattern_that_contains_a_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="2 times"):
        ResponseTemplate(Response(0, None, {"a": "<<0>>"}), ("msgId", "queueId"))

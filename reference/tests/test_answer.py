"""An answer that is written by a form has the bytes that it has without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.core.answer import Answer, AnswerForm, encode_answer
from spec.wire.command import decode_command

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
def test_a_form_writes_what_is_written_without(
    code: int,
    region: str,
    is_traced: bool,
    opaque: int,
    message_id: str,
    queue_id: int,
    offset: int,
) -> None:
    fixed: dict[str, object] = {"MSG_REGION": region, "TRACE_ON": is_traced}
    form = AnswerForm(Answer(code, None, fixed), CHANGING)
    values = (message_id, queue_id, offset)
    fields = {**fixed, **dict(zip(CHANGING, values, strict=True))}
    plain = encode_answer(opaque, Answer(code, None, fields))
    assert encode_answer(opaque, Answer(code, None, fields, form=form)) == plain
    assert decode_command(plain).opaque == opaque


def test_a_form_is_refused_that_could_not_tell_its_marks() -> None:
    with pytest.raises(ValueError, match="2 times"):
        AnswerForm(Answer(0, None, {"a": "<<0>>"}), ("msgId", "queueId"))

"""
The records of a batch that are made in one go are those that are made one by one.
"""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from reference.core.store.api import SCHEDULE_TOPIC, NewMessage, PutStatus
from reference.core.store.batch import batch_size, one_by_one, split_batch
from reference.core.store.batch_at_once import at_once
from reference.core.store.commit_log import CommitLog, message_id, message_ids
from reference.core.store.delay_levels import DelayLevels
from reference.core.store.files import MemoryFiles
from reference.core.store.records import Columns, flags_with_hosts
from reference.tests.store.making import NOON_MS, TINY, message
from reference.tests.store.test_told import INT32, MESSAGES, PROPERTIES
from spec.wire.batch_body import BatchMessage, encode_batch

MEMBERS = st.builds(
    BatchMessage,
    body=st.binary(max_size=30),
    properties=PROPERTIES.filter(str.isascii),
    flag=INT32,
    magic=INT32,
    body_crc=INT32,
)
OFFSETS = st.integers(0, 2**62)


@given(
    new=MESSAGES,
    members=st.lists(MEMBERS, max_size=5),
    queue_offset=OFFSETS,
    offset=OFFSETS,
)
@example(message("T"), [BatchMessage(body=b"a", properties="UNIQ_KEY\x01u")] * 2, 0, 0)
def test_at_once_is_one_by_one(
    new: NewMessage, members: list[BatchMessage], queue_offset: int, offset: int
) -> None:
    new = new._replace(body=encode_batch(members))
    topic, flags = new.topic.encode(), flags_with_hosts(new)
    spans = split_batch(new.body)
    first = Columns(topic, b"", queue_offset, offset, NOON_MS, 0)
    if len(topic) > 127:
        return
    plain, quick = (way(new, spans, first, flags) for way in (one_by_one, at_once))
    assert plain is not None
    assert len(plain.data) == batch_size(new, spans, topic, flags)
    is_plain = new.topic.isascii() and new.topic != SCHEDULE_TOPIC
    assert quick == (plain if is_plain else None)
    assert len(spans) == len(members)
    ids = [message_id(new, each) for each in plain.offsets]
    assert message_ids(new, plain.offsets) == ",".join(ids)


@given(members=st.lists(MEMBERS, min_size=1, max_size=3))
def test_what_is_told_of_a_batch_is_what_is_found(members: list[BatchMessage]) -> None:
    log = CommitLog(MemoryFiles(), TINY, DelayLevels(TINY.delay_levels))
    put = log.append_batch(message("T", body=encode_batch(members)), NOON_MS)
    assert put.status is PutStatus.PUT_OK
    told = list(log.fresh)
    assert told == [log.find(one.physical_offset, check_crc=True) for one in told]
    assert len(told) == len(members)

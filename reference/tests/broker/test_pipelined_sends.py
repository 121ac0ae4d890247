"""Pipelined sends: stored and answered as one by one."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import example, given
from hypothesis import strategies as st

from reference.core.broker.topic.topic_config import Topic
from reference.tests.broker.broker_driver import NOON_MS, BrokerDriver
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import contents
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.send.send import LETTERS

ONEWAY = 2
TOPICS = (
    Topic("T", 2, 4),
    Topic("tags", filter_type="MULTI_TAG"),
    Topic("ordered", is_ordered=True),
    Topic("%RETRY%g", 1, 1),
    Topic("thema-\u00e4"),
    Topic("x" * 128),
)
USUAL = {
    "producerGroup": "p",
    "topic": "T",
    "defaultTopic": "TBW102",
    "defaultTopicQueueNums": "4",
    "queueId": "1",
    "sysFlag": "0",
    "bornTimestamp": str(NOON_MS),
    "flag": "0",
    "properties": "UNIQ_KEY\x01u\x02WAIT\x01true\x02",
    "reconsumeTimes": "0",
    "unitMode": "false",
    "batch": "false",
}
NUMBERS = st.sampled_from(["0", "1", "3", "4", "8", "+1", "007", "4096", "x"])
PROPERTIES = st.lists(
    st.sampled_from(
        [
            *("A\x01b\x02", "\x01", "\x02", "TRAN_MSG\x01true\x02"),
            *("WAIT\x01false\x02", "DELAY\x012\x02", "CLUSTER\x01x\x02", "\u00e4"),
        ]
    ),
    max_size=3,
).map("".join)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "topic": st.sampled_from([*(one.name for one in TOPICS), "new", "TBW102", ""]),
        "queueId": NUMBERS,
        "sysFlag": NUMBERS,
        "bornTimestamp": st.sampled_from(["1", "-1", "x", "9" * 18, "9" * 19]),
        "properties": PROPERTIES,
        "reconsumeTimes": NUMBERS,
        "batch": st.sampled_from(["true", "no", ""]),
    },
)
SETTINGS = st.sampled_from(
    [
        {},
        {"brokerPermission": "4"},
        {"brokerRole": "SLAVE", "brokerId": "1"},
        {"startAcceptSendRequestTimeStamp": str(NOON_MS + 1)},
        {"flushDiskType": "SYNC_FLUSH"},
    ]
)


@dataclass(frozen=True)
class Sent:
    """A request of a producer."""

    changes: dict[str, str]
    flag: int = ONEWAY
    code: RequestCode = RequestCode.SEND_MESSAGE_V2
    body: bytes = b"body"

    def frame(self, number: int) -> bytes:
        """Return the frame of the request with the opaque *number*."""
        fields = {**USUAL, **self.changes}
        return encode_command(
            Command(
                code=self.code,
                opaque=number,
                flag=self.flag,
                fields={LETTERS[name]: text for name, text in fields.items()},
                body=self.body,
            )
        )


SENDS = st.lists(
    st.builds(
        Sent,
        changes=st.one_of(st.just({}), CHANGES),
        flag=st.sampled_from([0, ONEWAY]),
        code=st.sampled_from(
            [
                RequestCode.SEND_MESSAGE_V2,
                RequestCode.SEND_MESSAGE_V2,
                RequestCode.SEND_BATCH_MESSAGE,
                RequestCode.HEART_BEAT,
            ]
        ),
        body=st.sampled_from([b"", b"body", b"longer body"]),
    ),
    min_size=2,
    max_size=20,
)


def stage_of(settings: dict[str, str]) -> BrokerDriver:
    """Return a broker with the topics of the test and one connection."""
    driver = BrokerDriver(settings)
    driver.broker.state.topics.table.update((one.name, one) for one in TOPICS)
    driver.connect(1)
    return driver


def left(driver: BrokerDriver) -> tuple[object, ...]:
    """Return the files and counts of a broker."""
    state = driver.broker.state
    store, counts = state.store.statistics, state.statistics
    rates = [
        (count.value, count.times)
        for name, key in (
            ("TOPIC_PUT_NUMS", "T"),
            ("TOPIC_PUT_SIZE", "T"),
            ("BROKER_PUT_NUMS", state.options.broker_cluster_name),
        )
        if (count := counts.count(name, key)) is not None
    ]
    offsets = dict(state.store.log.next_queue_offsets)
    assert isinstance(driver.files, MemoryFiles)
    return contents(driver.files), store.put_count, store.put_size, rates, offsets


def responses(driver: BrokerDriver) -> list[tuple[object, ...]]:
    """Return the responses that connection 1 has received."""
    return [
        (one.opaque, one.code, one.remark, dict(one.fields)) for one in driver.inbox(1)
    ]


@given(sends=SENDS, settings=SETTINGS)
@example([Sent({})] * 9 + [Sent({"queueId": "1"}, flag=0)] * 9, {})
@example([Sent({}), Sent({"queueId": "7"}, flag=0), Sent({})], {})
@example([Sent({}), Sent({"queueId": "-1"}, flag=0), Sent({})], {})
def test_pipelined_sends_are_sends_one_by_one(
    sends: list[Sent], settings: dict[str, str]
) -> None:
    pipelined, alone = stage_of(settings), stage_of(settings)
    frames = [sent.frame(number) for number, sent in enumerate(sends)]
    pipelined.hand(1, b"".join(frames))
    for frame in frames:
        alone.hand(1, frame)
    assert responses(pipelined) == responses(alone)
    assert left(pipelined) == left(alone)

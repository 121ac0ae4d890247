"""
An everyday send is checked, stored and answered as any other: the plain way.

The same request under its older code, with its fields spelt out, goes the plain way.
"""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from reference.core.broker.everyday_send import everyday_message
from reference.core.broker.send import LETTERS, SPELT_OUT, Names
from reference.core.broker.topics import Topic
from reference.core.request import Request
from reference.tests.broker.making import NOON_MS, Stage
from reference.tests.store.test_told import contents
from spec.wire.command import Command
from spec.wire.request_code import RequestCode

TOPICS = (
    Topic("T", 2, 4),
    Topic("tags", filter_type="MULTI_TAG"),
    Topic("ordered", is_ordered=True),
    Topic("%RETRY%g", 1, 1),
    Topic("thema-\u00e4"),
    Topic("x" * 128),
)
USUAL = {
    "topic": "T",
    "default_topic": "TBW102",
    "default_queue_count": "4",
    "queue_id": "1",
    "system_flags": "0",
    "born_at_ms": str(NOON_MS),
    "flag": "0",
    "properties": "UNIQ_KEY\x01u\x02WAIT\x01true\x02",
    "reconsume_times": "0",
    "unit_mode": "false",
    "batch": "false",
}
NUMBERS = st.sampled_from(
    ["0", "1", "3", "4", "8", "9", "-1", "+1", "007", "4096", "x"]
)
PROPERTIES = st.lists(
    st.sampled_from(
        [
            *(
                "A\x01b\x02",
                "\x01",
                "\x02",
                "TRAN_MSG\x01true\x02",
                "WAIT\x01false\x02",
            ),
            *("DELAY\x012\x02", "CLUSTER\x01x\x02", "TRAN_MSG\x01no\x02", "\u00e4"),
        ]
    ),
    max_size=3,
).map("".join)
OTHERS = st.fixed_dictionaries(
    {},
    optional={
        "topic": st.sampled_from([*(one.name for one in TOPICS), "new", "TBW102", ""]),
        "queue_id": NUMBERS,
        "system_flags": NUMBERS,
        "born_at_ms": st.sampled_from(["1", "-1", "x", "9" * 18, "9" * 19, "\u0663"]),
        "flag": NUMBERS,
        "properties": PROPERTIES,
        "reconsume_times": NUMBERS,
        "batch": st.sampled_from(["true", "True", "no", ""]),
    },
)
LACKING = st.sets(st.sampled_from(sorted(USUAL)), max_size=1)
SETTINGS = st.sampled_from(
    [
        {},
        {"brokerPermission": "4"},
        {"brokerRole": "SLAVE", "brokerId": "1"},
        {"startAcceptSendRequestTimeStamp": str(NOON_MS + 1)},
        {"flushDiskType": "SYNC_FLUSH"},
    ]
)


def stage_of(settings: dict[str, str]) -> Stage:
    """Return a broker with the topics of the test, and one connection."""
    stage = Stage(settings)
    stage.broker.topics.table.update((one.name, one) for one in TOPICS)
    stage.connect(1)
    return stage


@given(changes=st.lists(OTHERS, max_size=4), lacking=LACKING, settings=SETTINGS)
@example([{}, {"queue_id": "4"}, {"queue_id": "3"}], set(), {})
def test_everyday_is_plain(
    changes: list[dict[str, str]], lacking: set[str], settings: dict[str, str]
) -> None:
    stages = stage_of(settings), stage_of(settings)
    for change in changes:
        fields = {**USUAL, **change}
        heard = []
        for stage, code, names in zip(
            stages,
            (RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_MESSAGE),
            (LETTERS, SPELT_OUT),
            strict=True,
        ):
            spelt = {
                getattr(names, name): text
                for name, text in fields.items()
                if name not in lacking
            }
            answers = stage.ask(1, code, spelt, b"body")
            heard.append([_said(answer, names) for answer in answers])
        assert heard[0] == heard[1]
    assert contents(stages[0].files) == contents(stages[1].files)
    sizes = [stage.broker.store.statistics.put_size for stage in stages]
    assert sizes[0] == sizes[1]


def _said(answer: Command, names: Names) -> tuple[object, ...]:
    """Return what an answer says, with the names of SEND_MESSAGE."""
    remark = answer.remark or ""
    for letter, name in zip(names, SPELT_OUT, strict=True):
        remark = remark.replace(f"<{letter}>", f"<{name}>")
    return answer.code, remark, dict(answer.fields)


def test_the_usual_request_is_an_everyday_one() -> None:
    stage = stage_of({})
    fields = {getattr(LETTERS, name): text for name, text in USUAL.items()}
    request = Request(310, 1, 0, fields, b"body", "JAVA", 0, None, 1, NOON_MS)
    message = everyday_message(stage.broker, request)
    assert message is not None
    assert (message.topic, message.queue_id, message.body) == ("T", 1, b"body")
    assert "CLUSTER\x01" in message.properties

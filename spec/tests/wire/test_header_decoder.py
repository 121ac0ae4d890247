"""Typed request headers: generated from the table, equal to reading each field."""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from spec.derive.header_decoder import HeaderField, header_decoder
from spec.derive.header_source import header_source
from spec.wire.headers import request_headers
from spec.wire.headers.header_table import read_table
from spec.wire.headers.request_headers import (
    SEND_MESSAGE_FIELDS,
    SEND_MESSAGE_V2_FIELDS,
    SendMessageRequestHeader,
)

ROOT = Path(__file__).parents[3]
WORDS = {
    "producerGroup": "group",
    "topic": "topic",
    "defaultTopic": "TBW102",
    "defaultTopicQueueNums": "4",
    "queueId": "3",
    "sysFlag": "0",
    "bornTimestamp": "1700000000000",
    "flag": "7",
    "properties": "TAGS\x01A\x02",
    "reconsumeTimes": "2",
    "unitMode": "false",
    "batch": "true",
    "maxReconsumeTimes": "16",
}
HEADER = SendMessageRequestHeader(
    producer_group="group",
    topic="topic",
    default_topic="TBW102",
    default_topic_queue_nums=4,
    queue_id=3,
    sys_flag=0,
    born_timestamp=1_700_000_000_000,
    flag=7,
    properties="TAGS\x01A\x02",
    reconsume_times=2,
    unit_mode=False,
    batch=True,
    max_reconsume_times=16,
)


@dataclass
class Request:
    """A request with nothing but a header."""

    fields: Mapping[str, str]


def _read(request: Request, name: str) -> object:
    """Return the value of a field in angle brackets, so that its reading shows."""
    return f"<{request.fields.get(name)}>"


READERS = {
    (kind, is_required): _read
    for kind in ("String", "Integer", "Long", "boolean", "Boolean")
    for is_required in (True, False)
}
decode = header_decoder(SendMessageRequestHeader, SEND_MESSAGE_FIELDS, READERS)


def test_the_module_is_what_the_table_of_4_6_0_gives() -> None:
    table = read_table(json.loads((ROOT / "fixtures/headers/4.6.0.json").read_bytes()))
    source = Path(str(request_headers.__file__)).read_text()
    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(header_source(table)))


def test_words_and_letters_give_the_same_header() -> None:
    letters = {
        letter.wire_name: WORDS[word.wire_name]
        for word, letter in zip(
            SEND_MESSAGE_FIELDS, SEND_MESSAGE_V2_FIELDS, strict=True
        )
    }
    by_letters = header_decoder(
        SendMessageRequestHeader, SEND_MESSAGE_V2_FIELDS, READERS
    )
    assert decode(Request(WORDS)) == HEADER
    assert by_letters(Request(letters)) == HEADER
    assert sorted(letters) == list("abcdefghijklm")


def test_optional_fields_may_be_absent() -> None:
    optional = {"properties", "reconsumeTimes", "batch", "maxReconsumeTimes"}
    fields = {name: text for name, text in WORDS.items() if name not in optional}
    header = decode(Request(fields))
    assert header == HEADER._replace(
        properties=None, reconsume_times=None, batch=False, max_reconsume_times=None
    )


@pytest.mark.parametrize(
    "change",
    [
        {"queueId": "-1"},
        {"queueId": "4096"},
        {"bornTimestamp": "1" * 19},
        {"bornTimestamp": "-1"},
        {"reconsumeTimes": "x"},
    ],
    ids=str,
)
def test_a_header_off_the_fast_path_is_read_field_by_field(
    change: dict[str, str],
) -> None:
    fields = {**WORDS, **change}
    expected = tuple(f"<{fields.get(one.wire_name)}>" for one in SEND_MESSAGE_FIELDS)
    assert tuple(decode(Request(fields))) == expected


def test_a_missing_required_field_leaves_the_fast_path() -> None:
    decode_flag = header_decoder(
        SendMessageRequestHeader, [HeaderField("flag", "Long", True)], READERS
    )
    assert tuple(decode_flag(Request({}))) == ("<None>",)

"""
A traced client reports its sends and deliveries as messages of a trace topic.

The topic is RMQ_SYS_TRACE_TOPIC by default. A message's body is a sequence of lines,
each ended by byte 2, of words with byte 1 between them. The first word is the kind of
event. The message's KEYS are the unique keys and keys of the reported messages, so a
trace is found as a message is. A broker handles the topic like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from spec.clause import Clause, Level
from spec.layout import LayoutError

TRACE_TOPIC = "RMQ_SYS_TRACE_TOPIC"
WORD_END = "\x01"
"""Stands between words (Java: CONTENT_SPLITOR)."""
LINE_END = "\x02"
"""Stands after a line (Java: FIELD_SPLITOR)."""
ABSENT = "null"
"""Form of a word for which Java has no value."""

_ENCODER = "org.apache.rocketmq.client.trace.TraceDataEncoder"

TRACE_FORM = Clause(
    id="CLIENT-TRACE-001",
    level=Level.MUST,
    text=(
        "A trace message's body is lines that end with byte 2 (FIELD_SPLITOR), of "
        "words with byte 1 (CONTENT_SPLITOR) between them."
    ),
    source=f"4.6.0 {_ENCODER}#encoderFromContextBean",
    untestable="a broker stores the body of a trace as of any message",
)
TRACE_OF_SEND = Clause(
    id="CLIENT-TRACE-002",
    level=Level.MUST,
    text="The line of a send is Pub, time, region, group, topic, unique key, tags,"
    " keys, broker, body size, cost, type, message id and success.",
    source=f"4.6.0 {_ENCODER}#encoderFromContextBean",
    untestable="a broker stores the body of a trace as of any message",
)
TRACE_OF_CONSUMPTION = Clause(
    id="CLIENT-TRACE-003",
    level=Level.MUST,
    text=(
        "A consumed message has a line SubBefore, time, region, group, request, "
        "unique key, retries, keys, and a line SubAfter, request, unique key, cost, "
        "success, keys, result."
    ),
    source=f"4.6.0 {_ENCODER}#encoderFromContextBean",
    untestable="a broker stores the body of a trace as of any message",
)
TRACE_WITH_HOST = Clause(
    id="CLIENT-TRACE-004",
    level=Level.QUIRK,
    text="In 4.8, the lines Pub and SubBefore end with the client's host.",
    source=f"4.8.0 {_ENCODER}#encoderFromContextBean",
    since="4.8",
    until="4.8",
    untestable="a broker stores the body of a trace as of any message",
    issues=(
        "apache/rocketmq#2996",
        "apache/rocketmq#6157",
        "apache/rocketmq-externals#768",
        "apache/rocketmq-dashboard#1060",
    ),
)
TRACE_AFTER_LONGER = Clause(
    id="CLIENT-TRACE-005",
    level=Level.MUST,
    text="From 4.8 on, except in 4.9.1, the line SubAfter ends with time and group.",
    source=f"4.8.0 {_ENCODER}#encoderFromContextBean",
    since="4.8",
    untestable="a broker stores the body of a trace as of any message",
)
TRACE_AFTER_CLOUD = Clause(
    id="CLIENT-TRACE-006",
    level=Level.QUIRK,
    text=(
        "In 4.9, from 4.9.5 on, a client of the access channel CLOUD omits time and "
        "group of SubAfter and the byte 2 after them."
    ),
    source=f"4.9.7 {_ENCODER}#encoderFromContextBean",
    since="4.9.5",
    until="4.9",
    untestable="a broker stores the body of a trace as of any message",
)
TRACE_AFTER_CLOUD_AGAIN = Clause(
    id="CLIENT-TRACE-010",
    level=Level.QUIRK,
    text=(
        "From 5.1.4 to 5.3.0, a client of the access channel CLOUD omits time and "
        "group of SubAfter and the byte 2 after them, as 4.9.5 did and 5.0 did not. "
        "From 5.3.1 on it omits time and group only."
    ),
    source=f"5.1.4 {_ENCODER}#encoderFromContextBean",
    since="5.1.4",
    until="5.3.0",
    untestable="a broker stores the body of a trace as of any message",
)
TRACE_OF_TRANSACTION = Clause(
    id="CLIENT-TRACE-007",
    level=Level.MUST,
    text=(
        "From 4.9 on, the end of a transaction has a line EndTransaction, time, "
        "region, group, topic, unique key, tags, keys, broker, type, transaction id, "
        "state and fromTransactionCheck."
    ),
    source=f"4.9.7 {_ENCODER}#encoderFromContextBean",
    since="4.9",
    untestable="a broker stores the body of a trace as of any message",
)
TRACE_OF_RECALL = Clause(
    id="CLIENT-TRACE-008",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, a recalled message has a line Recall, time, region, group, "
        "topic, unique key and success."
    ),
    source=f"5.3.3 {_ENCODER}#encoderFromContextBean",
    since="5.3.2",
    untestable="a broker stores the body of a trace as of any message",
)
TRACE_ABSENT = Clause(
    id="CLIENT-TRACE-009",
    level=Level.QUIRK,
    text="A trace word without a value, for example missing tags, is written as null.",
    source=f"4.6.0 {_ENCODER}#encoderFromContextBean",
    untestable="a broker stores the body of a trace as of any message",
)

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Pub": (
            *("time_ms", "region", "group", "topic", "unique_key", "tags", "keys"),
            *("store_host", "body_size", "cost_ms", "message_type", "message_id"),
            *("success", "client_host"),
        ),
        "SubBefore": (
            *("time_ms", "region", "group", "request_id", "unique_key"),
            *("retry_times", "keys", "client_host"),
        ),
        "SubAfter": (
            *("request_id", "unique_key", "cost_ms", "success", "keys"),
            *("result_code", "time_ms", "group"),
        ),
        "EndTransaction": (
            *("time_ms", "region", "group", "topic", "unique_key", "tags", "keys"),
            *("store_host", "message_type", "transaction_id", "state", "from_check"),
        ),
        "Recall": ("time_ms", "region", "group", "topic", "unique_key", "success"),
    }
)
"""Meaning of the words after the first, by the first; the last may be missing."""
_OLD_PUB_SIZE = 12
"""Words after Pub in a line of before 4.2: it has no message id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLine:
    """One thing that a client reports."""

    kind: str
    """Pub, SubBefore, SubAfter, EndTransaction, Recall, or one that is not known."""
    words: Mapping[str, str] = field(default_factory=dict)
    """By the names in WORDS, in that order; words without a name by their number."""


def encode_trace(lines: Iterable[TraceLine]) -> bytes:
    """Return the body of the message that reports *lines*."""
    return "".join(map(_line, lines)).encode("utf-8", "surrogateescape")


def decode_trace(data: bytes) -> list[TraceLine]:
    """Return the lines that *data*, the body of a trace message, reports."""
    text = data.decode("utf-8", "surrogateescape")
    return [_read(line) for line in text.split(LINE_END) if line]


def _line(line: TraceLine) -> str:
    words = (line.kind, *line.words.values())
    if any({WORD_END, LINE_END} & set(word) for word in words):
        raise LayoutError("a separator in a word", field=line.kind)
    return WORD_END.join(words) + LINE_END


def _read(line: str) -> TraceLine:
    kind, *words = line.split(WORD_END)
    names = list(WORDS.get(kind, ()))
    if kind == "Pub" and len(words) == _OLD_PUB_SIZE:
        names.remove("message_id")
    names += [str(number) for number in range(len(names), len(words))]
    return TraceLine(kind=kind, words=dict(zip(names, words, strict=False)))

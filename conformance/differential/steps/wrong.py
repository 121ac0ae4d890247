"""
Steps that no client sends: unknown codes, missing fields, fields without a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from conformance.differential.steps.step import Response, Step
from conformance.differential.world import World
from conformance.harness.client.requests.invoker import FieldValue
from spec.wire.remoting.request_code import RequestCode

SILENCE_S = 2.0
"""Wait for a response that some releases never send."""

_SEND: Mapping[str, FieldValue] = {
    "producerGroup": "G9",
    "topic": "T0",
    "defaultTopic": "TBW102",
    "defaultTopicQueueNums": 4,
    "queueId": 0,
    "sysFlag": 0,
    "bornTimestamp": 1,
    "flag": 0,
}
_PULL: Mapping[str, FieldValue] = {
    "consumerGroup": "G0",
    "topic": "T0",
    "queueId": 0,
    "queueOffset": 0,
    "maxMsgNums": 32,
    "sysFlag": 4,
    "commitOffset": 0,
    "suspendTimeoutMillis": 0,
    "subscription": "*",
    "subVersion": 0,
}
UNKNOWN = "unknown code"
_Request = tuple[int, Mapping[str, FieldValue], bytes]

WRONG: Mapping[str, _Request] = {
    UNKNOWN: (9999, {}, b""),
    "send without a topic": (RequestCode.SEND_MESSAGE, {**_SEND, "topic": None}, b"w"),
    "send to a queue that is no number": (
        RequestCode.SEND_MESSAGE,
        {**_SEND, "queueId": "zero"},
        b"w",
    ),
    "send to a queue past an int": (
        RequestCode.SEND_MESSAGE,
        {**_SEND, "queueId": 2**31},
        b"w",
    ),
    "pull without an offset": (
        RequestCode.PULL_MESSAGE,
        {**_PULL, "queueOffset": None},
        b"",
    ),
    "pull for a count that is no number": (
        RequestCode.PULL_MESSAGE,
        {**_PULL, "maxMsgNums": "many"},
        b"",
    ),
    "max offset without a queue": (RequestCode.GET_MAX_OFFSET, {"topic": "T0"}, b""),
    "query offset without a group": (
        RequestCode.QUERY_CONSUMER_OFFSET,
        {"topic": "T0", "queueId": 0},
        b"",
    ),
    "view of a negative place": (RequestCode.VIEW_MESSAGE_BY_ID, {"offset": -1}, b""),
    "view of a place past the end": (
        RequestCode.VIEW_MESSAGE_BY_ID,
        {"offset": 2**40},
        b"",
    ),
    "heartbeat that is no JSON": (RequestCode.HEART_BEAT, {}, b"{nothing"),
    "lock that is no JSON": (RequestCode.LOCK_BATCH_MQ, {}, b"[[["),
    "group that is no JSON": (
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        {},
        b"{{",
    ),
    "topic without queue counts": (
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        {"topic": "T3", "perm": 6},
        b"",
    ),
    "statistics of nothing": (RequestCode.GET_TOPIC_STATS_INFO, {}, b""),
    "decision of a negative place": (
        RequestCode.END_TRANSACTION,
        {
            "producerGroup": "G8",
            "tranStateTableOffset": 0,
            "commitLogOffset": -1,
            "commitOrRollback": 8,
            "fromTransactionCheck": False,
            "msgId": "x",
            "transactionId": "x",
        },
        b"",
    ),
}
"""Requests by what is wrong with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong(Step):
    """A request with one thing wrong."""

    what: str = UNKNOWN

    kind: ClassVar[str] = "wrong"
    changes: ClassVar[bool] = True

    @property
    def request(self) -> str:
        """The request; empty for the code that no release has."""
        return "" if self.what == UNKNOWN else self.what

    def invoke(self, world: World) -> Response:
        """Send it as it is."""
        code, fields, body = WRONG[self.what]
        named = {
            name: world.named(value) if isinstance(value, str) else value
            for name, value in fields.items()
        }
        world.pace()
        if fields.get("topic") == "T0":
            world.settle("T0", 0)
        return world.broker.invoke(code, named, body, timeout_s=SILENCE_S)

    def __str__(self) -> str:
        return self.what

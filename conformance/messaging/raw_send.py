"""A send with whole names, of which a test may change any field."""

from __future__ import annotations

from dataclasses import replace

from conformance.harness.asks.asker import FieldValue
from conformance.harness.speaker import Speaker, request
from spec.wire.command import Command
from spec.wire.request_code import RequestCode


def raw_send(
    broker: Speaker,
    topic: str,
    *,
    version: int | None = None,
    **changes: str | int | bool | None,
) -> Command:
    """Send a message with these header fields, None left out; return the answer.

    *version* is what the request's header says of its sender's release.
    """
    fields: dict[str, FieldValue] = {
        "producerGroup": "suite_producer",
        "topic": topic,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": 4,
        "queueId": 0,
        "sysFlag": 0,
        "bornTimestamp": 1,
        "flag": 0,
        "properties": "",
        "reconsumeTimes": 0,
        "unitMode": False,
        **changes,
    }
    made = request(RequestCode.SEND_MESSAGE, fields, b"raw")
    if version is not None:
        made = replace(made, version=version)
    return broker.peer.request(made)

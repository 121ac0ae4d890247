"""Requests that move messages: send, pull, hand back, end a transaction."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from conformance.harness.client.peer import RESPONSE_TIMEOUT_S
from conformance.harness.client.peer_errors import PeerMisbehavedError
from conformance.harness.client.requests.invoker import (
    FieldValue,
    Invoker,
    request,
    text_of,
)
from spec.wire.message.properties import encode_properties
from spec.wire.message.topic_names import DEFAULT_TOPIC
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.batch_body import BatchMessage, encode_batch
from spec.wire.send.send import LETTERS

MAY_WAIT = 2
BRINGS_SUBSCRIPTION = 4


def now_ms() -> int:
    """Return the time as producers stamp it."""
    return time.time_ns() // 1_000_000


class MessageRequests(Invoker):
    """The requests of producers and consumers about messages."""

    def send_message(
        self,
        *,
        topic: str,
        body: bytes = b"hello",
        queue_id: int = 0,
        properties: Mapping[str, str] | str | None = None,
        group: str = "suite_producer",
        flag: int = 0,
        system_flags: int = 0,
        born_at_ms: int | None = None,
        reconsume_times: int = 0,
        max_reconsume_times: int | None = None,
        default_topic: str = DEFAULT_TOPIC,
        default_queue_count: int = 4,
        unit_mode: bool = False,
        batch: bool = False,
        code: int = RequestCode.SEND_MESSAGE_V2,
        oneway: bool = False,
        timeout_s: float = RESPONSE_TIMEOUT_S,
    ) -> Command:
        """Send one message; with *oneway* return the request, else the response.

        *code* chooses the header: SEND_MESSAGE has whole names, the others letters.
        """
        fields: dict[str, FieldValue] = {
            "producerGroup": group,
            "topic": topic,
            "defaultTopic": default_topic,
            "defaultTopicQueueNums": default_queue_count,
            "queueId": queue_id,
            "sysFlag": system_flags,
            "bornTimestamp": now_ms() if born_at_ms is None else born_at_ms,
            "flag": flag,
            "properties": property_text(properties),
            "reconsumeTimes": reconsume_times,
            "unitMode": unit_mode,
            "maxReconsumeTimes": max_reconsume_times,
            "batch": batch,
        }
        named = send_fields(fields, code)
        if oneway:
            return self.invoke_oneway(code, named, body)
        return self.invoke(code, named, body, timeout_s=timeout_s)

    def send_batch(
        self,
        *,
        topic: str,
        body: bytes,
        queue_id: int = 0,
        group: str = "suite_producer",
        born_at_ms: int | None = None,
        code: int = RequestCode.SEND_BATCH_MESSAGE,
    ) -> Command:
        """Send a batch whose body is already encoded."""
        return self.send_message(
            topic=topic,
            body=body,
            queue_id=queue_id,
            group=group,
            born_at_ms=born_at_ms,
            code=code,
            batch=True,
        )

    def pull(
        self,
        *,
        topic: str,
        offset: int,
        group: str = "suite_consumer",
        queue_id: int = 0,
        max_count: int = 32,
        system_flags: int = 4,
        commit_offset: int = 0,
        suspend_ms: int = 0,
        subscription: str | None = "*",
        subscription_version: int = 0,
        expression_type: str | None = "TAG",
        timeout_s: float = RESPONSE_TIMEOUT_S,
    ) -> Command:
        """Pull messages from a queue.

        Bits of *system_flags*: 1 commits *commit_offset*, 2 suspends the request for up
        to *suspend_ms*, 4 adds *subscription* to the request.
        """
        return self.invoke(
            RequestCode.PULL_MESSAGE,
            {
                "consumerGroup": group,
                "topic": topic,
                "queueId": queue_id,
                "queueOffset": offset,
                "maxMsgNums": max_count,
                "sysFlag": system_flags,
                "commitOffset": commit_offset,
                "suspendTimeoutMillis": suspend_ms,
                "subscription": subscription,
                "subVersion": subscription_version,
                "expressionType": expression_type,
            },
            timeout_s=timeout_s,
        )

    def pull_to_end(
        self,
        *,
        topic: str,
        queue_id: int = 0,
        offset: int = 0,
        group: str = "suite_consumer",
    ) -> Iterator[Command]:
        """Yield the responses to pulls from *offset* on; the last has no messages."""
        while True:
            response = self.pull(
                topic=topic, queue_id=queue_id, offset=offset, group=group
            )
            yield response
            if response.code != ResponseCode.SUCCESS:
                return
            following = int(response.fields["nextBeginOffset"])
            if following <= offset:
                reason = f"a pull from {offset} finds messages and leads to {following}"
                raise PeerMisbehavedError(reason, self.transcript)
            offset = following

    def begin_pull(
        self,
        *,
        topic: str,
        offset: int,
        subscription: str = "*",
        expression_type: str = "TAG",
        suspend_ms: int = 20_000,
    ) -> int:
        """Send a pull request that may be held, and return its opaque."""
        fields: dict[str, FieldValue] = {
            "consumerGroup": "suite_consumer",
            "topic": topic,
            "queueId": 0,
            "queueOffset": offset,
            "maxMsgNums": 32,
            "sysFlag": MAY_WAIT | BRINGS_SUBSCRIPTION,
            "commitOffset": 0,
            "suspendTimeoutMillis": suspend_ms,
            "subscription": subscription,
            "subVersion": 0,
            "expressionType": expression_type,
        }
        command = request(RequestCode.PULL_MESSAGE, fields)
        return self.peer.send(command).opaque

    def send_back(
        self,
        *,
        group: str,
        commit_log_offset: int,
        delay_level: int = 0,
        origin_message_id: str | None = None,
        origin_topic: str | None = None,
        max_reconsume_times: int | None = None,
        unit_mode: bool = False,
    ) -> Command:
        """Hand a message back that could not be consumed, to be retried later."""
        return self.invoke(
            RequestCode.CONSUMER_SEND_MSG_BACK,
            {
                "offset": commit_log_offset,
                "group": group,
                "delayLevel": delay_level,
                "originMsgId": origin_message_id,
                "originTopic": origin_topic,
                "unitMode": unit_mode,
                "maxReconsumeTimes": max_reconsume_times,
            },
        )

    def end_transaction(
        self,
        *,
        group: str,
        commit_log_offset: int,
        queue_offset: int,
        decision: int,
        message_id: str,
        transaction_id: str | None = None,
        from_check: bool = False,
        oneway: bool = False,
    ) -> Command:
        """Decide a half message: 8 commits, 12 rolls back, 0 leaves it undecided."""
        fields: dict[str, FieldValue] = {
            "producerGroup": group,
            "tranStateTableOffset": queue_offset,
            "commitLogOffset": commit_log_offset,
            "commitOrRollback": decision,
            "fromTransactionCheck": from_check,
            "msgId": message_id,
            "transactionId": transaction_id,
        }
        if oneway:
            return self.invoke_oneway(RequestCode.END_TRANSACTION, fields)
        return self.invoke(RequestCode.END_TRANSACTION, fields)


def property_text(properties: Mapping[str, str] | str | None) -> str | None:
    """Return *properties* as a header carries them; text is taken as it is."""
    if properties is None or isinstance(properties, str):
        return properties
    return encode_properties(properties)


def send_fields(fields: dict[str, FieldValue], code: int) -> dict[str, FieldValue]:
    """Return *fields* under the names that the header of request *code* has."""
    if code == RequestCode.SEND_MESSAGE:
        return fields
    return {LETTERS[name]: value for name, value in fields.items()}


def plain_send(topic: str, *, body: bytes = b"plain", **changes: FieldValue) -> Command:
    """Return a send with whole names and the header fields that it cannot lack.

    *changes* are fields of other values, or more; None leaves one out.
    """
    fields: dict[str, FieldValue] = {
        "producerGroup": "suite_producer",
        "topic": topic,
        "defaultTopic": DEFAULT_TOPIC,
        "defaultTopicQueueNums": 4,
        "queueId": 0,
        "sysFlag": 0,
        "bornTimestamp": 1,
        "flag": 0,
        **changes,
    }
    return request(RequestCode.SEND_MESSAGE, fields, body)


def batch_body(
    messages: Sequence[tuple[bytes, Mapping[str, str]]], *, flag: int = 0
) -> bytes:
    """Return the body of a batch: each message's body and properties."""
    return encode_batch(
        BatchMessage(body=body, properties=encode_properties(properties), flag=flag)
        for body, properties in messages
    )


__all__ = [
    "MessageRequests",
    "batch_body",
    "now_ms",
    "plain_send",
    "property_text",
    "text_of",
]

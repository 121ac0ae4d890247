"""Requests that find messages by offset id, by key or by unique key."""

from __future__ import annotations

from conformance.harness.client.requests.invoker import FieldValue, Invoker
from spec.wire.consumer.query import UNIQUE_KEY_FIELD
from spec.wire.message.message_id import decode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

END_OF_TIME_MS = 2**63 - 1


class QueryRequests(Invoker):
    """The requests that find stored messages."""

    def view_message(self, *, commit_log_offset: int) -> Command:
        """Get the message at an offset of the commit log (VIEW_MESSAGE_BY_ID)."""
        return self.invoke(
            RequestCode.VIEW_MESSAGE_BY_ID, {"offset": commit_log_offset}
        )

    def view_message_by_id(self, message_id: str) -> Command:
        """Get the message of an offset id of this broker; the id's host is ignored."""
        _, offset = decode_message_id(message_id)
        return self.view_message(commit_log_offset=offset)

    def view_stored(self, message_id: str) -> Command:
        """Get the message of an offset id from the broker that stores it."""
        if self.storage is None:
            return self.view_message_by_id(message_id)
        with type(self).connect(self.storage, access=self.peer.access) as broker:
            return broker.view_message_by_id(message_id)

    def query_message(
        self,
        *,
        topic: str,
        key: str,
        max_count: int = 32,
        begin_ms: int = 0,
        end_ms: int = END_OF_TIME_MS,
        unique: bool = False,
    ) -> Command:
        """Get the messages of a key (QUERY_MESSAGE); *unique* selects unique keys."""
        fields: dict[str, FieldValue] = {
            "topic": topic,
            "key": key,
            "maxNum": max_count,
            "beginTimestamp": begin_ms,
            "endTimestamp": end_ms,
        }
        if unique:
            fields[UNIQUE_KEY_FIELD] = True
        return self.invoke(RequestCode.QUERY_MESSAGE, fields)

    def query_consume_queue(
        self,
        *,
        topic: str,
        queue_id: int = 0,
        index: int = 0,
        count: int = 10,
        group: str | None = None,
    ) -> Command:
        """Get units of a consume queue (QUERY_CONSUME_QUEUE)."""
        return self.invoke(
            RequestCode.QUERY_CONSUME_QUEUE,
            {
                "topic": topic,
                "queueId": queue_id,
                "index": index,
                "count": count,
                "consumerGroup": group,
            },
        )

"""Requests that look messages up: by offset id, by key, by unique key."""

from __future__ import annotations

from conformance.harness.asks.asker import Asker, FieldValue
from spec.wire.command import Command
from spec.wire.message_id import decode_message_id
from spec.wire.request_code import RequestCode

UNIQUE_KEY_FIELD = "_UNIQUE_KEY_QUERY"
END_OF_TIME_MS = 2**63 - 1


class QueryAsker(Asker):
    """The requests that find stored messages."""

    def view_message(self, *, commit_log_offset: int) -> Command:
        """Ask for the message that begins at an offset of the commit log."""
        return self.ask(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": commit_log_offset})

    def view_message_by_id(self, message_id: str) -> Command:
        """Ask for the message of an offset id (this broker's: the host is ignored)."""
        _, offset = decode_message_id(message_id)
        return self.view_message(commit_log_offset=offset)

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
        """Ask the index for the messages of a key; *unique* means a unique key."""
        fields: dict[str, FieldValue] = {
            "topic": topic,
            "key": key,
            "maxNum": max_count,
            "beginTimestamp": begin_ms,
            "endTimestamp": end_ms,
        }
        if unique:
            fields[UNIQUE_KEY_FIELD] = True
        return self.ask(RequestCode.QUERY_MESSAGE, fields)

    def query_consume_queue(
        self,
        *,
        topic: str,
        queue_id: int = 0,
        index: int = 0,
        count: int = 10,
        group: str | None = None,
    ) -> Command:
        """Ask for units of a consume queue."""
        return self.ask(
            RequestCode.QUERY_CONSUME_QUEUE,
            {
                "topic": topic,
                "queueId": queue_id,
                "index": index,
                "count": count,
                "consumerGroup": group,
            },
        )

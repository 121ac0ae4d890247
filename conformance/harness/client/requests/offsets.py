"""Requests about offsets: what a group has consumed, what a queue holds."""

from __future__ import annotations

from conformance.harness.client.requests.invoker import (
    FieldValue,
    Invoker,
    require_success,
)
from conformance.harness.process.deadline import wait_until
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


class OffsetRequests(Invoker):
    """The requests about offsets. Offsets of queues count messages."""

    def query_offset(
        self,
        *,
        group: str,
        topic: str,
        queue_id: int = 0,
        set_zero_if_not_found: bool | None = None,
    ) -> Command:
        """Get the committed offset of a group (QUERY_CONSUMER_OFFSET)."""
        return self.invoke(
            RequestCode.QUERY_CONSUMER_OFFSET,
            {
                "consumerGroup": group,
                "topic": topic,
                "queueId": queue_id,
                "setZeroIfNotFound": set_zero_if_not_found,
            },
        )

    def update_offset(
        self,
        *,
        group: str,
        topic: str,
        offset: int,
        queue_id: int = 0,
        oneway: bool = False,
    ) -> Command:
        """Commit an offset; with *oneway* return the request, else the response."""
        fields: dict[str, FieldValue] = {
            "consumerGroup": group,
            "topic": topic,
            "queueId": queue_id,
            "commitOffset": offset,
        }
        if oneway:
            return self.invoke_oneway(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
        return self.invoke(RequestCode.UPDATE_CONSUMER_OFFSET, fields)

    def max_offset(self, *, topic: str, queue_id: int = 0) -> Command:
        """Get the offset of the next message of a queue (GET_MAX_OFFSET)."""
        return self._invoke_for_queue(RequestCode.GET_MAX_OFFSET, topic, queue_id)

    def min_offset(self, *, topic: str, queue_id: int = 0) -> Command:
        """Get the offset of the oldest message of a queue (GET_MIN_OFFSET)."""
        return self._invoke_for_queue(RequestCode.GET_MIN_OFFSET, topic, queue_id)

    def earliest_store_time(self, *, topic: str, queue_id: int = 0) -> Command:
        """Get the store time of the oldest message of a queue, in milliseconds."""
        code = RequestCode.GET_EARLIEST_MSG_STORETIME
        return self._invoke_for_queue(code, topic, queue_id)

    def search_offset(
        self,
        *,
        topic: str,
        timestamp_ms: int,
        queue_id: int = 0,
        boundary: str | None = None,
    ) -> Command:
        """Get the offset of the message stored at a time.

        *boundary* (since 5.1.4), lower or upper, selects a neighbour where no message
        has that time.
        """
        return self.invoke(
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
            {
                "topic": topic,
                "queueId": queue_id,
                "timestamp": timestamp_ms,
                "boundaryType": boundary,
            },
        )

    def wait_for_max_offset(
        self, *, topic: str, offset: int, queue_id: int = 0, timeout_s: float = 10.0
    ) -> None:
        """Wait until the queue's maximum offset reaches *offset*.

        Dispatch to consume queues follows the response to a send, so a read right after
        the send may not find the message yet.
        """
        reached = -1

        def is_reached() -> bool:
            nonlocal reached
            reached = _offset_of(self.max_offset(topic=topic, queue_id=queue_id))
            return reached >= offset

        wait_until(
            is_reached,
            what=f"max offset {offset} of queue {queue_id} of {topic}",
            timeout_s=timeout_s,
            found=lambda: f"max offset {reached}",
        )

    def _invoke_for_queue(self, code: int, topic: str, queue_id: int) -> Command:
        return self.invoke(code, {"topic": topic, "queueId": queue_id})


def _offset_of(response: Command) -> int:
    return int(require_success(response).fields["offset"])

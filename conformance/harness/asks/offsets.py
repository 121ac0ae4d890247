"""Requests about offsets: what a group has consumed, what a queue holds."""

from __future__ import annotations

from conformance.harness.asks.asker import Asker, FieldValue, succeeded
from conformance.harness.deadline import wait_until
from spec.wire.command import Command
from spec.wire.request_code import RequestCode


class OffsetAsker(Asker):
    """The requests about offsets. Offsets of queues count messages."""

    def query_offset(self, *, group: str, topic: str, queue_id: int = 0) -> Command:
        """Ask what a group has committed."""
        return self.ask(
            RequestCode.QUERY_CONSUMER_OFFSET,
            {"consumerGroup": group, "topic": topic, "queueId": queue_id},
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
        """Commit an offset; with *oneway* return the request, else the answer."""
        fields: dict[str, FieldValue] = {
            "consumerGroup": group,
            "topic": topic,
            "queueId": queue_id,
            "commitOffset": offset,
        }
        if oneway:
            return self.tell(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
        return self.ask(RequestCode.UPDATE_CONSUMER_OFFSET, fields)

    def max_offset(self, *, topic: str, queue_id: int = 0) -> Command:
        """Ask for the offset that the next message of a queue will have."""
        return self._ask_queue(RequestCode.GET_MAX_OFFSET, topic, queue_id)

    def min_offset(self, *, topic: str, queue_id: int = 0) -> Command:
        """Ask for the offset of the oldest message of a queue."""
        return self._ask_queue(RequestCode.GET_MIN_OFFSET, topic, queue_id)

    def earliest_store_time(self, *, topic: str, queue_id: int = 0) -> Command:
        """Ask when the oldest message of a queue was stored."""
        code = RequestCode.GET_EARLIEST_MSG_STORETIME
        return self._ask_queue(code, topic, queue_id)

    def search_offset(
        self,
        *,
        topic: str,
        timestamp_ms: int,
        queue_id: int = 0,
        boundary: str | None = None,
    ) -> Command:
        """Ask for the offset of the message stored at a time.

        Since 5.1.4 *boundary*, lower or upper, says which if there is none.
        """
        return self.ask(
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
        """Wait until a queue holds messages up to *offset*.

        Consume queues fill after the send is acknowledged, so whoever looks at one
        right after a send may see it as it was before.
        """
        wait_until(
            lambda: (
                _offset_of(self.max_offset(topic=topic, queue_id=queue_id)) >= offset
            ),
            what=f"queue {queue_id} of {topic} holds {offset} messages",
            timeout_s=timeout_s,
        )

    def _ask_queue(self, code: int, topic: str, queue_id: int) -> Command:
        return self.ask(code, {"topic": topic, "queueId": queue_id})


def _offset_of(answer: Command) -> int:
    return int(succeeded(answer).fields["offset"])

"""
What administrators ask of a consumer, through a broker that it is connected to.

To go on elsewhere, to say how far it is and how it is set, to handle one message now.
A consumer is in one group; what is asked of another is not its business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reference.core.answer import Answer, refusal
from reference.core.client.asking import Handler
from reference.core.client.message import Queue
from reference.core.request import Request
from spec.client.requests import REST_BEFORE_RESET_MS
from spec.layout import LayoutError
from spec.wire.json_body import decode_body, encode_body
from spec.wire.offset_tables import ConsumerStatus, ResetOffsets
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.running_info import RunningInfo

if TYPE_CHECKING:
    from reference.core.client.consumer import Consumer

VERSION = "V4_6_0"


class Administered:
    """Answers for one consumer."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._group = consumer.options.group

    @property
    def handlers(self) -> Mapping[int, Handler]:
        """What it answers, by the codes of the requests."""
        return {
            RequestCode.RESET_CONSUMER_CLIENT_OFFSET: self._reset,
            RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT: self._offsets,
            RequestCode.GET_CONSUMER_RUNNING_INFO: self._state,
            RequestCode.CONSUME_MESSAGE_DIRECTLY: self._consume,
        }

    def _reset(self, _address: str, request: Request, now_ms: int) -> Answer | None:
        """Drop what there is of some queues, and go on elsewhere after a rest."""
        try:
            wanted = decode_body(ResetOffsets, request.body).offsets
        except LayoutError:
            return None
        topic = request.optional_text("topic")
        if request.optional_text("group") != self._group:
            return None
        queues = {
            Queue.named(name): offset
            for name, offset in wanted.items()
            if name.topic == topic
        }
        reader = self._consumer.reader
        reader.rest(queues)  # [CLIENT-REQUEST-002]

        def go_on(later_ms: int) -> None:
            reader.move(queues)
            self._consumer.rebalance(later_ms)

        self._consumer.schedule.at(now_ms + REST_BEFORE_RESET_MS, go_on)
        return None

    def _offsets(self, _address: str, request: Request, _now_ms: int) -> Answer:
        """Tell how far the queues of a topic have come."""
        found: Mapping[Queue, int] = {}
        if request.optional_text("group") == self._group:  # [CLIENT-REQUEST-003]
            found = self._consumer.reader.offsets()
        topic = request.optional_text("topic")
        offsets = {
            queue.name: offset
            for queue, offset in found.items()
            if queue.topic == topic
        }
        return Answer(body=encode_body(ConsumerStatus(offsets=offsets)))

    def _state(self, _address: str, request: Request, _now_ms: int) -> Answer:
        """Tell settings, subscriptions and queues."""
        if request.optional_text("consumerGroup") != self._group:
            return self._not_in_it(request)
        consumer = self._consumer
        state = RunningInfo(  # [CLIENT-REQUEST-004]
            properties=settings(consumer),
            subscriptions=consumer.subscriptions,
            queues={queue.name: one for queue, one in consumer.reader.states().items()},
        )
        return Answer(body=encode_body(state))

    def _consume(self, address: str, request: Request, now_ms: int) -> Answer | None:
        """Have one message handled now."""
        if request.optional_text("consumerGroup") != self._group:
            return self._not_in_it(request)
        # [CLIENT-REQUEST-005]
        return self._consumer.directly.deliver(address, request, now_ms)

    def _not_in_it(self, request: Request) -> Answer:
        group = request.optional_text("consumerGroup")
        remark = f"The Consumer Group <{group}> not exist in this consumer"
        return refusal(ResponseCode.SYSTEM_ERROR, remark)


def settings(consumer: Consumer) -> Mapping[str, str]:
    """Return how *consumer* is set, by the names that Java has for it."""
    options, (member,) = consumer.options, consumer.heartbeat().consumers
    return {
        "PROP_CLIENT_VERSION": VERSION,
        "PROP_CONSUMEORDERLY": "true" if options.in_order else "false",
        "PROP_CONSUMER_START_TIMESTAMP": str(consumer.made_ms),
        "PROP_CONSUME_TYPE": member.consume_type,
        "PROP_NAMESERVER_ADDR": "".join(f"{one};" for one in consumer.name_servers),
        "consumeFromWhere": member.consume_from,
        "consumerGroup": options.group,
        "messageModel": member.message_model,
        "pullBatchSize": str(options.batch_size),
    }

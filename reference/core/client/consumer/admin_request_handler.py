"""
Requests of administrators to a consumer, which a broker forwards to it.

They reset offsets, query offsets and running info, and have one message consumed
directly (Java: ClientRemotingProcessor). Requests for another group are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reference.core.client.client_instance import ClientInstance
from reference.core.client.consumer.push_pull_loop import PushPullLoop
from reference.core.client.effects import DeliverMessages, DirectRequest
from reference.core.client.message import MessageQueue
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import decode_message
from reference.core.client.remoting.tasks import start
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.client.requests import REST_BEFORE_RESET_MS
from spec.layout import LayoutError
from spec.wire.bodies.heartbeat import ConsumerData
from spec.wire.bodies.json_body import decode_body, encode_body
from spec.wire.bodies.offset_tables import GetConsumerStatusBody, ResetOffsetBody
from spec.wire.bodies.running_info import (
    ConsumeMessageDirectlyResult,
    ConsumerRunningInfo,
)
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

VERSION = "V4_6_0"


class AdminRequestHandler:
    """Processor of an administrator's requests to one consumer."""

    def __init__(
        self,
        options: ConsumerOptions,
        client: ClientInstance,
        *,
        consumer_data: ConsumerData,
        pull_loop: PushPullLoop[Any],
        rebalance: Callable[[], None],
    ) -> None:
        self._options = options
        self._client = client
        self._consumer_data = consumer_data
        self._pull_loop = pull_loop
        self._rebalance = rebalance
        self._started_ms = client.rpc.now_ms()
        client.rpc.handlers |= {
            RequestCode.RESET_CONSUMER_CLIENT_OFFSET: self._reset_offsets,
            RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT: self._consumer_status,
            RequestCode.GET_CONSUMER_RUNNING_INFO: self._running_info,
            RequestCode.CONSUME_MESSAGE_DIRECTLY: self._consume_directly,
        }

    def _reset_offsets(self, _: str, request: Request) -> Response | None:
        """Suspend queues, and commit their new offsets after 10 seconds."""
        try:
            table = decode_body(ResetOffsetBody, request.body).offsets
        except LayoutError:
            return None
        topic = request.optional_text("topic")
        if request.optional_text("group") != self._options.group:
            return None
        offsets = {
            MessageQueue.named(name): offset
            for name, offset in table.items()
            if name.topic == topic
        }
        self._pull_loop.suspend(offsets)  # [CLIENT-ADMIN-002]
        start(self._reset(offsets))
        return None

    async def _reset(self, offsets: Mapping[MessageQueue, int]) -> None:
        await self._client.rpc.sleep(REST_BEFORE_RESET_MS)
        self._pull_loop.reset_offsets(offsets)
        self._rebalance()

    def _consumer_status(self, _: str, request: Request) -> Response:
        offsets: Mapping[MessageQueue, int] = {}
        if request.optional_text("group") == self._options.group:  # [CLIENT-ADMIN-003]
            offsets = self._pull_loop.offsets()
        topic = request.optional_text("topic")
        table = {
            queue.name: offset
            for queue, offset in offsets.items()
            if queue.topic == topic
        }
        return Response(body=encode_body(GetConsumerStatusBody(offsets=table)))

    def _running_info(self, _: str, request: Request) -> Response:
        if request.optional_text("consumerGroup") != self._options.group:
            return _group_not_exist(request)
        queues = self._pull_loop.running_info()
        info = ConsumerRunningInfo(  # [CLIENT-ADMIN-004]
            properties=self._settings(),
            subscriptions=self._consumer_data.subscriptions,
            queues={queue.name: one for queue, one in queues.items()},
        )
        return Response(body=encode_body(info))

    def _consume_directly(self, address: str, request: Request) -> Response | None:
        """Deliver the message in *request*; the response follows its result."""
        if request.optional_text("consumerGroup") != self._options.group:
            return _group_not_exist(request)
        try:
            name = request.optional_text("brokerName") or ""
            message = decode_message(request.body, name)
        except LayoutError as error:
            return Response(ResponseCode.SYSTEM_ERROR, str(error))
        direct = DirectRequest(address, request.opaque, self._client.rpc.now_ms())
        self._client.rpc.emit(DeliverMessages(message.queue, (message,), direct=direct))
        return None

    def process_consume_result(
        self, direct: DirectRequest, *, is_failed: bool, error: str | None
    ) -> None:
        """Respond with the listener's result.

        No offset is committed, and a failed message is not sent back.
        """
        rpc = self._client.rpc
        result = "CR_LATER" if is_failed else "CR_SUCCESS"
        body = ConsumeMessageDirectlyResult(  # [CLIENT-ADMIN-005]
            is_ordered=self._options.is_orderly,
            result=result if error is None else "CR_THROW_EXCEPTION",
            remark=error,
            spent_ms=rpc.now_ms() - direct.at_ms,
        )
        rpc.respond(direct.address, direct.opaque, Response(body=encode_body(body)))

    def _settings(self) -> Mapping[str, str]:
        options, data = self._options, self._consumer_data
        name_servers = "".join(f"{one};" for one in self._client.routes.name_servers)
        return {
            "PROP_CLIENT_VERSION": VERSION,
            "PROP_CONSUMEORDERLY": "true" if options.is_orderly else "false",
            "PROP_CONSUMER_START_TIMESTAMP": str(self._started_ms),
            "PROP_CONSUME_TYPE": data.consume_type,
            "PROP_NAMESERVER_ADDR": name_servers,
            "consumeFromWhere": data.consume_from,
            "consumerGroup": options.group,
            "messageModel": data.message_model,
            "pullBatchSize": str(options.batch_size),
        }


def _group_not_exist(request: Request) -> Response:
    group = request.optional_text("consumerGroup")
    remark = f"The Consumer Group <{group}> not exist in this consumer"
    return Response(ResponseCode.SYSTEM_ERROR, remark)

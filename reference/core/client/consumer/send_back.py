"""
Sending back messages whose consumption failed, so that the group gets them again.

CONSUMER_SEND_MSG_BACK has the broker do that with the stored message. After a failure
the message is sent once more, to the retry topic that every member subscribes to. The
send has the retries of a producer (Java: MQClientInstance#defaultMQProducer).
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import Message
from reference.core.client.options import ConsumerOptions, ProducerOptions
from reference.core.client.producer.producer import Producer
from reference.core.client.producer.send_request import UniqueIdGenerator
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.remoting.errors import ClientError
from reference.core.client.remoting.rpc_client import is_success
from reference.core.remoting.response import create_request
from spec.client.subscription import (
    FIRST_RETRY_LEVEL,
    INNER_PRODUCER,
    OFFSET_TIMEOUT_MS,
    RETRIES_MAX,
)
from spec.wire.message.properties import Property
from spec.wire.message.topic_names import RETRY_PREFIX
from spec.wire.remoting.request_code import RequestCode


class SendBackService:
    """Sends back messages of one group (Java: sendMessageBack)."""

    def __init__(self, options: ConsumerOptions, client: ClientInstance) -> None:
        self._group = options.group
        given = options.retries_max
        self._retries_max = RETRIES_MAX if given is None else given
        self._rpc, self._routes = client.rpc, client.routes
        # Every message that it sends has a unique key already.
        no_ids = UniqueIdGenerator(address=bytes(4), process_id=0)
        inner = ProducerOptions(group=INNER_PRODUCER)
        self._producer = Producer(inner, client, unique_ids=no_ids)

    async def send_message_back(self, message: MessageExt) -> bool:
        """Have the broker deliver *message* to the group again, later.

        Returns whether a broker has the message now.
        """
        fields = {  # [CLIENT-SENDBACK-001]
            "group": self._group,
            "originTopic": message.topic,
            "offset": message.record.physical_offset,
            "delayLevel": 0,
            "originMsgId": message.offset_message_id,
            "unitMode": "false",
            "maxReconsumeTimes": self._retries_max,
        }
        request = create_request(RequestCode.CONSUMER_SEND_MSG_BACK, fields)
        address = self._routes.address(message.queue.broker_name)
        if is_success(await self._rpc.invoke(address, request, OFFSET_TIMEOUT_MS)):
            return True
        times = message.record.reconsume_times + 1
        return await self.send_to_retry_topic(message, times=times)

    async def send_to_retry_topic(self, message: MessageExt, *, times: int) -> bool:
        """Send *message* to the retry topic, with *times* failed deliveries."""
        try:
            await self._producer.send(self._retry_message(message, times=times))
        except ClientError:
            return False
        return True

    def _retry_message(self, message: MessageExt, *, times: int) -> Message:
        """Build the message for the retry topic; it is no half message any more."""
        kept = {k: v for k, v in message.properties.items() if k != Property.TRAN_MSG}
        properties = {  # [CLIENT-SENDBACK-003]
            Property.UNIQ_KEY: message.message_id,
            **kept,
            Property.RETRY_TOPIC: message.topic,
            Property.RECONSUME_TIME: str(times),
            Property.MAX_RECONSUME_TIMES: str(self._retries_max),
            Property.DELAY: str(FIRST_RETRY_LEVEL + message.record.reconsume_times),
        }
        return Message(
            topic=RETRY_PREFIX + self._group,
            body=message.body,
            properties=properties,
            flag=message.record.flag,
        )


def next_delivery(message: MessageExt) -> MessageExt:
    """Return *message* with one more reconsume time, for another local delivery."""
    times = message.record.reconsume_times + 1
    record = replace(message.record, reconsume_times=times)
    return structs.replace(message, record=record)

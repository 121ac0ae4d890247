"""
Topics that messages and consumers create: on first use, to retry, for dead letters.
"""

from __future__ import annotations

from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import (
    PERM_WRITE,
    UNIT_FLAG,
    UNIT_SUBSCRIPTION_FLAG,
    Topic,
)
from reference.core.remoting.request import Refused
from spec.store.config.group_settings import SubscriptionGroupConfig
from spec.wire.headers.request_headers import SendMessageRequestHeader
from spec.wire.message.topic_names import DLQ_PREFIX, RETRY_PREFIX
from spec.wire.remoting.response_code import SEE_FAQ, ResponseCode


def create_topic_in_send(
    state: BrokerState, header: SendMessageRequestHeader, now_ms: int
) -> Topic:
    """Create the topic of a send, like its default topic; raise Refused."""
    is_retry = header.topic.startswith(RETRY_PREFIX)
    flag = 0
    if header.unit_mode:  # [SEND-TOPIC-012]
        flag = UNIT_SUBSCRIPTION_FLAG if is_retry else UNIT_FLAG
    # [SEND-TOPIC-005] [SEND-TOPIC-006] [SEND-TOPIC-011]
    topic = state.topics.create_like(
        header.topic,
        default=header.default_topic,
        queue_count=header.default_topic_queue_nums,
        flag=flag,
        now_ms=now_ms,
    )
    if topic is None and is_retry:  # [SEND-TOPIC-016]
        topic = state.topics.create_once(header.topic, now_ms=now_ms, flag=flag)
    if topic is None:  # [SEND-TOPIC-007]
        remark = f"topic[{header.topic}] not exist, apply first please!{SEE_FAQ}"
        raise Refused(ResponseCode.TOPIC_NOT_EXIST, remark)
    return topic


def retry_topic(
    state: BrokerState, group: SubscriptionGroupConfig, now_ms: int, *, is_unit: bool
) -> Topic:
    """Return the retry topic of a group, created where it does not exist."""
    return state.topics.create_once(
        RETRY_PREFIX + group.name,  # [GROUP-RETRY-001]
        queue_count=group.retry_queue_count,
        now_ms=now_ms,
        flag=UNIT_SUBSCRIPTION_FLAG if is_unit else 0,
    )


def dead_letter_topic(state: BrokerState, group: str, now_ms: int) -> Topic:
    """Return the dead-letter topic of a group, created where it does not exist."""
    permission = PERM_WRITE  # [RETRY-DLQ-002]
    name = DLQ_PREFIX + group
    return state.topics.create_once(name, permission=permission, now_ms=now_ms)

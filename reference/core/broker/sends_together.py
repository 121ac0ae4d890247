"""
Sends that come together are stored together.

Producers that do not wait, or many that share a connection, have several requests in
one read of it. Everyday ones go to the log in one go. The plain way is one request
after the other, which takes whatever is special; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reference.core.answer import Answer
from reference.core.broker.everyday_send import everyday_message
from reference.core.broker.send import answer_to_put
from reference.core.request import Request
from reference.core.store.api import NewMessage, PutResult, Queue, new_tuple
from reference.core.store.commit_log import STORED, message_id
from reference.core.store.records import Found
from spec.wire.request_code import RequestCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

ROW_FROM = 4
"""Of fewer messages it takes longer to put them together than to store each."""
_SEND, _ONEWAY = int(RequestCode.SEND_MESSAGE_V2), 2


def store_together(
    broker: Broker, requests: Sequence[Request]
) -> Sequence[Answer | None]:
    """Store the sends that *requests* begin with; return their answers.

    All are of one connection and one moment. What is left is handled one by one.
    """
    if len(requests) < ROW_FROM or broker.options.is_slave:
        return ()
    messages = _everyday(broker, requests)
    if len(messages) < ROW_FROM:
        return ()
    stored = broker.store.put_row(messages, requests[0].now_ms)
    if not stored:
        return ()
    broker.traffic.has_put_row(stored)
    broker.is_unsettled = True
    return [
        None if request.flag else _answer(broker, message, found)
        for request, message, found in zip(requests, messages, stored, strict=False)
    ]


def _everyday(broker: Broker, requests: Sequence[Request]) -> list[NewMessage]:
    """Return the messages of the everyday sends that *requests* begin with."""
    # Who has to wait for disk or slave is answered later, each by itself.
    at_once = not (broker.flushing.is_sync or broker.options.is_sync_master)
    messages, open_queues = [], set[Queue]()
    for request in requests:
        flag = request.flag
        if request.code != _SEND or not (flag == _ONEWAY or (flag == 0 and at_once)):
            break
        message = everyday_message(broker, request, open_queues)
        if message is None:
            break
        messages.append(message)
    return messages


def _answer(broker: Broker, message: NewMessage, found: Found) -> Answer:
    """Return what a producer is told of its *message* that is stored."""
    size, _, queue_id, queue_offset, offset, _, stored_at_ms, *_ = found
    own_id = message_id(message, offset)
    stored = STORED, offset, size, queue_offset, own_id, stored_at_ms, 1
    return answer_to_put(broker, new_tuple(PutResult, stored), queue_id=queue_id)

"""
Silent sends: messages whose producers want no answer come many at a time.

An application that sends oneway does not wait, so one read of its connection brings a
row of requests. Nothing is to be said of any of them, so they are stored in one go. The
plain way is one request after the other; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reference.core.broker.everyday_send import Queue, everyday_message
from reference.core.request import Request
from spec.wire.request_code import RequestCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

ROW_FROM = 8
"""Of fewer messages it takes longer to put them together than to store each."""
_SEND, _ONEWAY = int(RequestCode.SEND_MESSAGE_V2), 2


def store_silent_sends(broker: Broker, requests: Sequence[Request]) -> int:
    """Store the oneway sends that *requests* begin with; return how many.

    All are of one connection and one moment. What is left is handled one by one.
    """
    messages, open_queues = [], set[Queue]()
    for request in requests:
        if request.code != _SEND or request.flag != _ONEWAY:
            break
        message = everyday_message(broker, request, open_queues)
        if message is None:
            break
        messages.append(message)
    if len(messages) < ROW_FROM or broker.options.is_slave:
        return 0
    stored = broker.store.put_row(messages, requests[0].now_ms)
    if stored:
        broker.traffic.has_put_row(stored)
        broker.is_unsettled = True
    return len(stored)

"""
The everyday send: SEND_MESSAGE_V2 of a message with nothing special about it.

Its topic is there, is not ordered and has no other name than one of its users; its
numbers are small and well spelt; it is no batch and no half message. Such a request
passes every check of `send.check_send`, so they are made here at once, and what is
stored is what `send.new_message` makes of it. Any other request goes the plain way;
the tests hold the two together.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from reference.core.answer import Answer
from reference.core.broker.send import (
    LETTERS,
    put_message,
    send_message,
    with_property,
)
from reference.core.broker.topics import DEFAULT_TOPIC, RETRY_PREFIX, Topic
from reference.core.request import SMALL_NUMBERS, SURELY_INT64, Request
from reference.core.store.api import NewMessage, Queue, new_tuple

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

_pick = itemgetter(
    LETTERS.topic,
    LETTERS.queue_id,
    LETTERS.system_flags,
    LETTERS.born_at_ms,
    LETTERS.flag,
    LETTERS.properties,
    LETTERS.reconsume_times,
    LETTERS.batch,
)
_HALF_MESSAGE = "TRAN_MSG"


def send_everyday(broker: Broker, request: Request) -> Answer | None:
    """Store an everyday message; leave other requests to `send_message`."""
    message = everyday_message(broker, request)
    if message is None:
        return send_message(broker, request)
    put, queue_id = broker.store.put, message.queue_id
    return put_message(broker, request, message, put=put, queue_id=queue_id)


def everyday_message(
    broker: Broker, request: Request, open_queues: set[Queue] | None = None
) -> NewMessage | None:
    """Return what an everyday *request* asks to be stored; None for any other.

    Of requests that come together, a queue in *open_queues* was found open before; one
    that is found open is added.
    """
    number = SMALL_NUMBERS
    try:
        name, queue, flags, born, flag, words, times, batch = _pick(request.fields)
        topic, queue_id = broker.topics.table[name], number[queue]
        numbers = number[flag], number[flags], number[times]
    except (KeyError, TypeError):  # something is not there, or is no text
        return None
    if type(words) is not str or _HALF_MESSAGE in words or batch != "false":
        return None
    if type(born) is not str or len(born) >= SURELY_INT64 or not born.isdecimal():
        return None
    if open_queues is None or (name, queue_id) not in open_queues:
        if topic.name != name or not _may_send(broker, request, topic, queue_id):
            return None
        if open_queues is not None:
            open_queues.add((name, queue_id))
    properties = with_property(words, "CLUSTER", broker.options.cluster)
    own_flag, system_flags, reconsume_times = numbers
    everything = (
        name,
        queue_id,
        request.body,  # [SEND-BODY-001] [SEND-BODY-002]
        properties,  # [SEND-PROPS-003]
        own_flag,  # [SEND-FLAG-001]
        system_flags,  # [SEND-FLAG-002]
        int(born),  # [SEND-TIME-001]
        broker.connections[request.connection].remote,  # [SEND-HOST-001]
        broker.store_host,  # [SEND-HOST-002]
        reconsume_times,  # [SEND-RETRY-001]
        0,
        "WAIT\x01false" not in properties,
    )
    return new_tuple(NewMessage, everything)


def _may_send(broker: Broker, request: Request, topic: Topic, queue_id: int) -> bool:
    """Return whether nothing is special about sending to *topic* now."""
    is_special = (
        topic.is_ordered
        or topic.has_many_tags
        or topic.name == DEFAULT_TOPIC
        or topic.name.startswith(RETRY_PREFIX)
        # [SEND-QUEUE-002] [SEND-QUEUE-004]
        or queue_id >= topic.queue_count
    )
    now_ms = request.now_ms
    is_open = now_ms >= broker.options.accepts_sends_from_ms
    return not is_special and is_open and not broker.store.is_overloaded(now_ms)

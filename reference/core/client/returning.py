"""
How a message that the application could not handle goes back, to be delivered again.

Its broker is asked to do that with what it has stored already. If it does not, the
message is sent once more, to the retry topic of the group, which every member reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reference.core.client.asking import Asker, Outcome
from reference.core.client.failure import Failure
from reference.core.client.message import STATUS_OF_CODE, Message
from reference.core.client.pulling import Received
from reference.core.client.queues import master_of, publish_queues
from reference.core.client.requests import hand_back
from reference.core.client.routes import Routes
from reference.core.client.send_request import Outgoing, outgoing, send_command
from spec.client.subscribing import (
    FIRST_RETRY_LEVEL,
    INNER_PRODUCER,
    OFFSET_TIMEOUT_MS,
    RETRIES_MAX,
)
from spec.routing.route_data import TopicRoute
from spec.wire.groups import RETRY_PREFIX
from spec.wire.producer import SEND_TIMEOUT_MS
from spec.wire.properties import Property
from spec.wire.response_code import ResponseCode

ThenReturned = Callable[[bool, int], None]
"""Is told whether some broker has the message now, and the time."""
_TAKEN = ResponseCode.SUCCESS


class Returns:
    """Gives back what members of a group could not handle."""

    def __init__(
        self,
        group: str,
        *,
        asker: Asker,
        routes: Routes,
        retries_max: int | None = None,
    ) -> None:
        self._group = group
        self._retries_max = RETRIES_MAX if retries_max is None else retries_max
        self._asker = asker
        self._routes = routes

    def give_back(self, message: Received, then: ThenReturned, now_ms: int) -> None:
        """Have *message* delivered to the group again, later."""
        times = message.record.reconsume_times + 1
        address = self._routes.any_address(message.queue.broker_name)
        if address is None:
            self.send_anew(message, then, now_ms, times=times)
            return
        asked = hand_back(
            self._group,
            topic=message.queue.topic,
            commit_log_offset=message.record.physical_offset,
            message_id=message.offset_message_id,
            retries_max=self._retries_max,
        )

        def answered(outcome: Outcome, later_ms: int) -> None:
            if not isinstance(outcome, Failure) and outcome.code == _TAKEN:
                then(True, later_ms)
            else:
                self.send_anew(message, then, later_ms, times=times)

        until_ms = now_ms + OFFSET_TIMEOUT_MS
        self._asker.ask(address, asked, answered, until_ms=until_ms)

    def send_anew(
        self, message: Received, then: ThenReturned, now_ms: int, *, times: int
    ) -> None:
        """Send *message* to the retry topic, as one that has failed so many *times*."""
        topic = RETRY_PREFIX + self._group
        anew = sent_anew(message, topic, times=times, retries_max=self._retries_max)
        sent = outgoing(anew, message.message_id)

        def found(route: TopicRoute | None, later_ms: int) -> None:
            if route is None:
                then(False, later_ms)
            else:
                self._send(sent, route, then, later_ms)

        known = self._routes.known(topic)
        if known is not None:
            found(known, now_ms)
        else:
            self._routes.ask(topic, found, now_ms=now_ms)

    def _send(
        self, sent: Outgoing, route: TopicRoute, then: ThenReturned, now_ms: int
    ) -> None:
        queue = next(iter(publish_queues(sent.topic, route)), None)
        address = None if queue is None else master_of(queue.broker_name, route)
        if queue is None or address is None:
            then(False, now_ms)
            return

        def answered(outcome: Outcome, later_ms: int) -> None:
            failed = isinstance(outcome, Failure) or outcome.code not in STATUS_OF_CODE
            then(not failed, later_ms)

        asked = send_command(sent, queue, group=INNER_PRODUCER, now_ms=now_ms)
        self._asker.ask(address, asked, answered, until_ms=now_ms + SEND_TIMEOUT_MS)


def sent_anew(
    message: Received, topic: str, *, times: int, retries_max: int
) -> Message:
    """Return *message* as one for the retry *topic* that has failed so many *times*.

    What was half a transaction is a whole message by now.
    """
    kept = {k: v for k, v in message.properties.items() if k != Property.TRAN_MSG}
    properties = {  # [CLIENT-RETURN-003]
        **kept,
        Property.RETRY_TOPIC: message.topic,
        Property.RECONSUME_TIME: str(times),
        Property.MAX_RECONSUME_TIMES: str(retries_max),
        Property.DELAY: str(FIRST_RETRY_LEVEL + message.record.reconsume_times),
    }
    return Message(
        topic=topic,
        body=message.body,
        properties=properties,
        flag=message.record.flag,
    )


def delivered_again(message: Received) -> Received:
    """Return *message* as it is handed out when nobody took it back."""
    times = message.record.reconsume_times + 1
    return replace(message, record=replace(message.record, reconsume_times=times))

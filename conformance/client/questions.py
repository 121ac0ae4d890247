"""What a broker may ask a client, or tell it, and what the client answers."""

from __future__ import annotations

import itertools

from conformance.client.broker import Broker
from conformance.client.player import Asked
from conformance.client.stage import Stage
from conformance.client.test_handling import COMMIT
from conformance.client.test_pulling import of, one_queue
from spec.wire.command import Command, CommandFlag
from spec.wire.json_body import decode_body
from spec.wire.offset_tables import ConsumerStatus
from spec.wire.queue_name import QueueName
from spec.wire.request_code import RequestCode
from spec.wire.running_info import RunningInfo

COUNT = 5
_opaques = itertools.count(100_000)


def answer_to(
    asked: Asked, code: int, fields: dict[str, str], body: bytes = b""
) -> Command:
    """Ask the client that *asked* something, and return what it answers."""
    opaque = next(_opaques)
    question = Command(
        code=code, opaque=opaque, language="JAVA", fields=fields, body=body
    )
    conversation, player = asked.conversation, asked.player
    player.ask(conversation, question)

    def found() -> list[Command]:
        return [one for one in conversation.answers if one.opaque == opaque]

    player.wait_until(lambda: bool(found()), what=f"the client answers code {code}")
    return found()[0]


def tell(asked: Asked, code: int, fields: dict[str, str], body: bytes = b"") -> None:
    """Tell the client that *asked* something, and want no answer."""
    notice = Command(
        code=code,
        opaque=next(_opaques),
        flag=CommandFlag.ONE_WAY,
        language="JAVA",
        fields=fields,
        body=body,
    )
    asked.player.ask(asked.conversation, notice)


def queue_of(topic: str) -> QueueName:
    """Return the name of the one queue of *topic*."""
    return QueueName(broker_name="broker-a", queue_id=0, topic=topic)


def filled(stage: Stage, topic: str) -> Broker:
    """Return a broker that has some messages in the one queue of *topic*."""
    broker = one_queue(stage, topic)
    for number in range(COUNT):
        broker.put(topic, b"%d" % number, KEYS=f"k{number}")
    return broker


def commits_of(broker: Broker, topic: str) -> list[tuple[float, int]]:
    """Return the offsets of *topic* that were committed oneway, with their times."""
    return [
        (one.at_ms, int(one.command.fields["commitOffset"]))
        for one in broker.requests(COMMIT)
        if of(topic, one)
    ]


def state_answer(asked: Asked, group: str) -> Command:
    """Ask the client that *asked* something for the state of its *group*."""
    fields = {"consumerGroup": group, "jstackEnable": "false"}
    return answer_to(asked, RequestCode.GET_CONSUMER_RUNNING_INFO, fields)


def state_of(asked: Asked, group: str) -> RunningInfo:
    """Return what the client that *asked* something tells of its *group*."""
    return decode_body(RunningInfo, state_answer(asked, group).body)


def status_answer(asked: Asked, topic: str, group: str) -> Command:
    """Ask the client that *asked* something how far *group* is in *topic*."""
    fields = {"topic": topic, "group": group}
    code = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
    return answer_to(asked, code, fields)


def status_of(answer: Command) -> dict[QueueName, int]:
    """Return the offsets that *answer* tells, if any."""
    if not answer.body:
        return {}
    return dict(decode_body(ConsumerStatus, answer.body).offsets)

"""
Rounds of a generated store: a message per queue, and one of each kind.

A delayed message waits and is delivered. One transaction is committed, another rolled
back, each with an op message. A message is sent back, waits, and is delivered to the
retry topic. One becomes a dead letter. Some bodies are compressed. In a rich store two
messages are popped. One is acknowledged, the other is popped again. A round lies in one
commit-log file, so that related messages are in one part.
"""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from spark_checks.generate.plan import (
    BATCH_TOPIC,
    BEGAN_AT_MS,
    DEAD_TOPIC,
    GROUP,
    LMQ_NAMES,
    RETRY_TOPIC,
    REVIVE_TOPIC,
    ROUND_MS,
    Plan,
)
from spec.host import Host
from spec.store.message_record import Record, SystemFlag, encode_record, record_size
from spec.store.record_checksum import CHECKSUM_SIZE, encode_checksum
from spec.wire.bodies import fastjson
from spec.wire.message.multi_dispatch import Dispatch, properties_of
from spec.wire.message.properties import decode_properties, encode_properties
from spec.wire.message.topic_names import HALF_TOPIC, OP_TOPIC, SCHEDULE_TOPIC
from spec.wire.pop.pop_bodies import ACK_TAG, CHECKPOINT_TAG
from spec.wire.send.batch_body import (
    INNER_BATCH,
    NEED_UNWRAP,
    BatchMessage,
    encode_batch,
)

TAGS = ("TagA", "TagB", "TagC")
RETRY_LEVEL = 3
"""Delay level of a message that is sent back for the first time."""
GIVEN_UP_AFTER = 16
BATCH_COUNT = 3
"""Messages of a batch."""
POP_COUNT = 2
"""Messages of a pop."""
INVISIBLE_MS = 4_000
"""Invisible time of a pop."""
_TRANSACTIONS = 7
"""Steps before the ordinary messages."""
STORE_HOST = Host(bytes([127, 0, 0, 1]), 10911)


class Kind(StrEnum):
    """Kind of a message of a round."""

    ORDINARY = "ordinary"
    COMPRESSED = "compressed"
    DELAYED = "delayed"
    DELIVERED = "delivered"
    HALF = "half"
    COMMITTED = "committed"
    OP = "op"
    SENT_BACK = "sent back"
    RETRIED = "retried"
    DEAD = "dead"
    LMQ = "lmq"
    """Message that is also dispatched to LMQs."""
    BATCH = "batch"
    """Several messages in one record, in a batch consume queue."""
    CHECKPOINT = "checkpoint"
    """Pop of two messages, after the timer has delivered it to the revive topic."""
    ACKNOWLEDGED = "acknowledged"
    """Acknowledgement of the first of these messages."""
    POPPED_AGAIN = "popped again"
    """The second of them, in the retry topic of topic and group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One message of every round."""

    kind: Kind
    topic: str
    queue_id: int
    rank: int = 0
    """Number of messages of the round before it in its queue."""
    of: int | None = None
    """Index of the step that it results from."""


@cache
def steps_of(plan: Plan) -> tuple[Step, ...]:
    """Return the steps of every round of *plan*."""
    ranks: Counter[tuple[str, int]] = Counter()
    steps = []
    for step in _steps(plan):
        place = step.topic, step.queue_id
        steps.append(replace(step, rank=ranks[place]))
        ranks[place] += 1
    return tuple(steps)


@cache
def counts_of(plan: Plan) -> dict[tuple[str, int], int]:
    """Return the number of messages that a round adds to each consume queue."""
    return dict(
        Counter(
            (step.topic, step.queue_id)
            for step in steps_of(plan)
            if step.kind is not Kind.BATCH
        )
    )


def _steps(plan: Plan) -> Iterator[Step]:
    first = plan.topic_names[0]
    yield Step(kind=Kind.DELAYED, topic=SCHEDULE_TOPIC, queue_id=0)
    yield Step(kind=Kind.SENT_BACK, topic=SCHEDULE_TOPIC, queue_id=RETRY_LEVEL - 1)
    yield Step(kind=Kind.HALF, topic=HALF_TOPIC, queue_id=0)
    yield Step(kind=Kind.HALF, topic=HALF_TOPIC, queue_id=0)
    yield Step(kind=Kind.COMMITTED, topic=first, queue_id=0, of=2)
    yield Step(kind=Kind.OP, topic=OP_TOPIC, queue_id=0, of=2)
    yield Step(kind=Kind.OP, topic=OP_TOPIC, queue_id=0, of=3)
    for topic in plan.topic_names:
        for queue_id in range(plan.queues):
            yield Step(kind=Kind.ORDINARY, topic=topic, queue_id=queue_id)
    yield Step(kind=Kind.COMPRESSED, topic=plan.topic_names[-1], queue_id=0)
    yield Step(kind=Kind.DEAD, topic=DEAD_TOPIC, queue_id=0)
    yield Step(kind=Kind.DELIVERED, topic=first, queue_id=0, of=0)
    yield Step(kind=Kind.RETRIED, topic=RETRY_TOPIC, queue_id=0, of=1)
    if plan.is_rich:
        yield Step(kind=Kind.LMQ, topic=plan.topic_names[-1], queue_id=0)
        yield Step(kind=Kind.BATCH, topic=BATCH_TOPIC, queue_id=0)
        # A pop of an ordinary message and the compressed one.
        popped, again = _TRANSACTIONS + plan.queues * plan.topics, plan.pop_retry_topic
        yield Step(kind=Kind.CHECKPOINT, topic=REVIVE_TOPIC, queue_id=0, of=popped)
        yield Step(kind=Kind.ACKNOWLEDGED, topic=REVIVE_TOPIC, queue_id=0, of=popped)
        yield Step(kind=Kind.POPPED_AGAIN, topic=again, queue_id=0, of=popped)


def records_of_round(plan: Plan, number: int, begin: int) -> Iterator[Record]:
    """Yield the records of round *number*, the first at commit-log offset *begin*."""
    chance = random.Random(f"{plan.seed}/{number}")  # noqa: S311 # no secret
    made: list[Record] = []
    for index, step in enumerate(steps_of(plan)):
        source = None if step.of is None else made[step.of]
        bare = _record(plan, number, index, source, chance)
        made.append(replace(bare, physical_offset=begin))
        record = with_checksum(made[-1]) if plan.is_rich else made[-1]
        yield record
        begin += record_size(record)


def with_checksum(record: Record) -> Record:
    """Return *record* with the checksum __CRC32# behind its properties."""
    room = " " * CHECKSUM_SIZE
    data = encode_record(replace(record, properties=record.properties + room))
    end = encode_checksum(data[:-CHECKSUM_SIZE]).decode("ascii")
    return replace(record, properties=record.properties + end)


def _record(
    plan: Plan, number: int, index: int, source: Record | None, chance: random.Random
) -> Record:
    steps = steps_of(plan)
    step = steps[index]
    message = number * len(steps) + index
    stored_at_ms = BEGAN_AT_MS + number * ROUND_MS + index * ROUND_MS // len(steps)
    bare = Record(
        topic=step.topic,
        queue_id=step.queue_id,
        queue_offset=_queue_offset(plan, number, step),
        physical_offset=0,
        body=_body(plan, message, chance),
        born_at_ms=stored_at_ms - 2,
        born_host=Host(bytes([10, 0, 0, 1 + message % 3]), 40_000 + message % 1000),
        stored_at_ms=stored_at_ms,
        store_host=STORE_HOST,
    )
    own = {
        "KEYS": f"order-{message:012d}",
        "UNIQ_KEY": f"7F000001{plan.seed & 0xFFFFFFFF:08X}{message:016X}",
        "WAIT": "true",
        "TAGS": TAGS[message % len(TAGS)],
    }
    if source is None:
        return _of_kind(plan, number, step.kind, bare, own)
    if step.kind in {Kind.CHECKPOINT, Kind.ACKNOWLEDGED, Kind.POPPED_AGAIN}:
        return _of_pop(step.kind, bare, source)
    return _following(step.kind, bare, source)


def _queue_offset(plan: Plan, number: int, step: Step) -> int:
    if step.kind is Kind.BATCH:
        return number * BATCH_COUNT
    return number * counts_of(plan)[step.topic, step.queue_id] + step.rank


def _of_kind(
    plan: Plan, number: int, kind: Kind, bare: Record, own: dict[str, str]
) -> Record:
    """Return *bare* as a message of *kind*, which results from no other."""
    first = plan.topic_names[0]
    real = {"REAL_TOPIC": first, "REAL_QID": "0"}
    lmqs = [Dispatch(queue=name, queue_offset=number) for name in LMQ_NAMES]
    more: dict[Kind, Mapping[str, str]] = {
        Kind.DELAYED: {"DELAY": "1", **real},
        Kind.HALF: {"TRAN_MSG": "true", "PGROUP": "orders_producer", **real},
        Kind.SENT_BACK: {
            "RETRY_TOPIC": first,
            "ORIGIN_MESSAGE_ID": f"7F00000100002A9F{bare.stored_at_ms:016X}",
            "DELAY": str(RETRY_LEVEL),
            **real,
            "REAL_TOPIC": RETRY_TOPIC,
        },
        Kind.DEAD: {"RETRY_TOPIC": first},
        Kind.LMQ: properties_of(lmqs),
        Kind.BATCH: {
            "INNER_NUM": str(BATCH_COUNT),
            "INNER_BASE": str(bare.queue_offset),
        },
    }
    record = _with(bare, {**own, **more.get(kind, {})})
    times = {Kind.SENT_BACK: 1, Kind.DEAD: GIVEN_UP_AFTER}.get(kind, 0)
    flags, body = 0, bare.body
    if kind is Kind.COMPRESSED:
        flags, body = int(SystemFlag.COMPRESSED), zlib.compress(body)
    elif kind is Kind.BATCH:
        flags, body = INNER_BATCH | NEED_UNWRAP, encode_batch(_pieces(body))
    return replace(record, system_flags=flags, body=body, reconsume_times=times)


def _of_pop(kind: Kind, bare: Record, source: Record) -> Record:
    """Return the message of *kind* about a pop of *source* and the message before."""
    popped_at_ms, offset = source.stored_at_ms + 1, source.queue_offset - 1
    if kind is Kind.POPPED_AGAIN:
        again = decode_properties(source.properties)
        again["1ST_POP_TIME"] = str(popped_at_ms)
        record = replace(
            bare,
            body=source.body,
            born_at_ms=source.born_at_ms,
            system_flags=source.system_flags,
            reconsume_times=1,
        )
        return _with(record, again)
    of_pop = {
        "bn": "broker-a",
        "c": GROUP,
        "pt": popped_at_ms,
        "q": source.queue_id,
        "so": offset,
        "t": source.topic,
    }
    tag, due_ms = ACK_TAG, popped_at_ms + INVISIBLE_MS
    about: dict[str, object] = {"ao": offset}
    if kind is Kind.CHECKPOINT:
        tag, steps = CHECKPOINT_TAG, list(range(POP_COUNT))
        about = {"bm": 0, "d": steps, "it": INVISIBLE_MS, "n": POP_COUNT, "ro": 0}
        about["reviveTime"] = due_ms
        due_ms -= 1000
    body = fastjson.dumps(dict(sorted({**of_pop, **about}.items())))
    own = {
        "TIMER_DELIVER_MS": str(due_ms),
        "UNIQ_KEY": f"{source.topic}@{source.queue_id}@{offset}@{popped_at_ms}@{tag}",
        "TAGS": tag,
        "REAL_TOPIC": bare.topic,
        "REAL_QID": str(bare.queue_id),
    }
    return _with(replace(bare, body=body), own)


def _following(kind: Kind, bare: Record, source: Record) -> Record:
    """Return the message of *kind* that a broker makes of *source*."""
    if kind is Kind.OP:
        note = str(source.queue_offset).encode()
        return _with(replace(bare, body=note), {"WAIT": "true", "TAGS": "d"})
    committed = kind is Kind.COMMITTED
    return replace(
        bare,
        body=source.body,
        properties=source.properties,
        born_at_ms=source.born_at_ms,
        born_host=source.born_host,
        reconsume_times=source.reconsume_times,
        system_flags=int(SystemFlag.TRANSACTION_COMMIT) if committed else 0,
        prepared_transaction_offset=source.physical_offset if committed else 0,
    )


def _pieces(body: bytes) -> Iterator[BatchMessage]:
    """Yield the messages of a batch, with *body* divided among them."""
    size = -(-len(body) // BATCH_COUNT)
    for begin in range(0, size * BATCH_COUNT, size):
        yield BatchMessage(body=body[begin : begin + size])


def _with(record: Record, properties: dict[str, str]) -> Record:
    return replace(record, properties=encode_properties(properties))


def _body(plan: Plan, message: int, chance: random.Random) -> bytes:
    size = plan.body_size - chance.randrange(plan.body_size // 16 + 1)
    head = f'{{"order": {message}, "of": "{GROUP}", "more": "'.encode()[:size]
    rest = size - len(head)
    return head + chance.randbytes(-(-rest // 2)).hex().encode()[:rest]

"""``rmqc produce``: send messages with the reference producer."""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import click

from cli.options.access import with_access
from cli.options.common import namesrv_option
from cli.options.exit_codes import FINDINGS, SUCCESS
from cli.options.input_lines import input_lines
from cli.options.output import echo_line
from conformance.harness.client.access import Access
from reference.core.client.message import Message, MessageQueue, Mode, SendResult
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.send_call import Selector
from reference.core.client.producer.transaction import (
    LocalTransactionState,
    TransactionCheck,
)
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.shell.client.producer import ProducerClient, decide_nothing
from spec.wire.message.properties import Property
from spec.wire.message.topic_names import HALF_TOPIC, SCHEDULE_TOPIC
from spec.wire.producer.producer import SEND_TIMEOUT_MS
from spec.wire.producer.retry import RETRIES

BATCH = "batch"
IN_FLIGHT_MAX = 256
"""Most asynchronous sends without a response."""
CHECKED = "checked"
NAMESRV = namesrv_option(
    "Name servers, separated by semicolons. rmqc serve starts one."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sending:
    """The way to send messages."""

    namesrv: str
    tls: ssl.SSLContext | None
    options: ProducerOptions
    mode: str
    selector: Selector | None
    decision: str | None
    """Decision of a transaction, or None to send without a transaction."""

    def producer(self, check: TransactionCheck = decide_nothing) -> ProducerClient:
        """Return a producer, not started."""
        return ProducerClient(self.namesrv, self.options, check=check, tls=self.tls)


@click.command()
@NAMESRV
@click.option(
    "-g",
    "--group",
    default="rmqc_producer",
    show_default=True,
    help="Producer group, which brokers send check requests to.",
)
@click.option(
    "--mode",
    type=click.Choice([*(str(one) for one in Mode), BATCH]),
    default=str(Mode.SYNC),
    show_default=True,
    help="Wait for each response, for all of them, for none; or send one batch.",
)
@click.option(
    "--count", type=click.IntRange(1), default=1, help="Number of copies of each."
)
@click.option("--tag", help="Tag, for filters of consumers.")
@click.option("--keys", help="Keys for queries, separated by spaces.")
@click.option(
    "--property", "pairs", multiple=True, metavar="NAME=VALUE", help="User property."
)
@click.option("--delay-level", type=click.IntRange(1), help="Delay level.")
@click.option(
    "--queue",
    type=click.IntRange(0),
    help="Index into the topic's queues, from 0.",
)
@click.option(
    "--timeout-ms",
    type=click.IntRange(1),
    default=SEND_TIMEOUT_MS,
    show_default=True,
    help="Time for a send with its retries (Java: sendMsgTimeout).",
)
@click.option(
    "--retries",
    type=click.IntRange(0),
    default=RETRIES,
    show_default=True,
    help="Further attempts after a failed one.",
)
@click.option(
    "--avoid-slow",
    is_flag=True,
    help="Avoid slow brokers (Java: sendLatencyFaultEnable).",
)
@click.option("--vip", is_flag=True, help="Use the broker's VIP port.")
@click.option(
    "--transaction",
    type=click.Choice(["commit", "rollback", CHECKED]),
    help="Send half messages and end them, or commit on a broker's check request.",
)
@with_access
@click.argument("topic")
@click.argument("bodies", nargs=-1)
def produce(access: Access, **given: object) -> None:
    """Send BODIES to TOPIC, or each line of standard input as it arrives.

    Prints status, queue, offset and both ids of each message. The offset of a delayed
    message is in the topic of delayed messages, that of a half message in the topic of
    half messages. An error goes to standard error, and the exit code is 1.
    """
    queue = given["queue"]
    decision = given["transaction"]
    if decision and given["mode"] != Mode.SYNC:
        raise click.UsageError("a transaction is sent with --mode sync")
    sending = _Sending(
        namesrv=str(given["namesrv"]),
        tls=access.tls,
        options=_options(given, access),
        mode=str(given["mode"]),
        selector=_selector(queue) if isinstance(queue, int) else None,
        decision=str(decision) if decision else None,
    )
    try:
        failed = asyncio.run(_send(sending, _messages(given)))
    except ClientError as error:
        raise click.UsageError(str(error)) from None
    sys.exit(FINDINGS if failed else SUCCESS)


async def _send(sending: _Sending, messages: AsyncIterator[Message]) -> int:
    """Send *messages*, print the results, and return the number of failures."""
    if sending.decision is not None:
        return await _send_transactions(sending, sending.decision, messages)
    async with sending.producer() as producer:
        if sending.mode == BATCH:
            batch = [one async for one in messages]
            return await _send_batch(producer, sending, batch)
        if sending.mode == Mode.ASYNC:
            return await _send_async(producer, sending, messages)
        return sum([await _send_one(producer, sending, one) async for one in messages])


async def _send_async(
    producer: ProducerClient, sending: _Sending, messages: AsyncIterator[Message]
) -> int:
    """Send up to `IN_FLIGHT_MAX` messages concurrently; return the failures."""
    in_flight: set[asyncio.Task[int]] = set()
    failed = 0
    async for message in messages:
        in_flight.add(asyncio.create_task(_send_one(producer, sending, message)))
        if len(in_flight) == IN_FLIGHT_MAX:
            done, in_flight = await asyncio.wait(
                in_flight, return_when=asyncio.FIRST_COMPLETED
            )
            failed += sum(one.result() for one in done)
    return failed + sum(await asyncio.gather(*in_flight))


async def _send_one(
    producer: ProducerClient, sending: _Sending, message: Message
) -> int:
    """Send one message, print the result, and return the number of failures."""
    mode = Mode(sending.mode)
    try:
        result = await producer.send(message, mode=mode, selector=sending.selector)
    except ClientError as error:
        echo_line(f"not sent: {error}", err=True)
        return 1
    if result is None:
        click.echo("sent without a response")
    else:
        echo_line(_line(result, _stored_in(message)))
    return 0


async def _send_batch(
    producer: ProducerClient, sending: _Sending, messages: Sequence[Message]
) -> int:
    """Send all messages in one request. Return the number of failures."""
    try:
        result = await producer.send(messages, selector=sending.selector)
    except ClientError as error:
        echo_line(f"not sent: {error}", err=True)
        return len(messages)
    assert result is not None, "only a oneway send has no result"
    echo_line(_line(result))
    return 0


async def _send_transactions(
    sending: _Sending, decision: str, messages: AsyncIterator[Message]
) -> int:
    """Send each message in a transaction. Return the number of failures."""
    checked: asyncio.Queue[MessageExt] = asyncio.Queue()

    def check(half: MessageExt) -> LocalTransactionState:
        checked.put_nowait(half)
        return LocalTransactionState.COMMIT

    waits = decision == CHECKED
    decides = (
        LocalTransactionState.UNKNOWN
        if waits
        else LocalTransactionState[decision.upper()]
    )
    failed = undecided = 0
    async with sending.producer(check) as producer:
        async for message in messages:
            try:
                result, _ = await producer.send_in_transaction(message, lambda: decides)
            except ClientError as error:
                failed += 1
                echo_line(f"not sent: {error}", err=True)
            else:
                undecided += waits
                echo_line(f"{_line(result, HALF_TOPIC)} {decides.name}")
        for _ in range(undecided):
            half = await checked.get()
            echo_line(f"checked {half.message_id} {LocalTransactionState.COMMIT.name}")
    return failed


def _stored_in(message: Message) -> str:
    """Return the system topic in which a message waits, or nothing."""
    is_delayed = message.properties.get(Property.DELAY, "0") != "0"
    return SCHEDULE_TOPIC if is_delayed else ""


def _line(result: SendResult, stored_in: str = "") -> str:
    """Return a result; *stored_in* is the system topic of the offset, if any."""
    place = f"{result.queue.broker_name} queue {result.queue.queue_id}"
    offset = " in ".join(filter(None, (str(result.queue_offset), stored_in)))
    ids = f"msgId {result.message_id} offsetMsgId {result.offset_message_id}"
    return f"{result.status} {place} offset {offset} {ids}"


async def _messages(given: dict[str, object]) -> AsyncIterator[Message]:
    """Yield the messages of the command line, or of standard input as they arrive."""
    pairs, bodies, count = given["pairs"], given["bodies"], given["count"]
    assert isinstance(pairs, tuple)
    assert isinstance(bodies, tuple)
    assert isinstance(count, int)
    properties = dict(_pair(pair) for pair in pairs)
    named = {"TAGS": "tag", "KEYS": "keys", "DELAY": "delay_level"}
    properties |= {name: str(given[one]) for name, one in named.items() if given[one]}
    topic = str(given["topic"])
    async for body in _given(bodies) if bodies else input_lines():
        data = body.encode("utf-8", "surrogateescape")
        for _ in range(count):
            yield Message(topic=topic, body=data, properties=properties)


async def _given(bodies: tuple[str, ...]) -> AsyncIterator[str]:
    for body in bodies:
        yield body


def _options(given: dict[str, object], access: Access) -> ProducerOptions:
    timeout_ms, retries = given["timeout_ms"], given["retries"]
    assert isinstance(timeout_ms, int)
    assert isinstance(retries, int)
    return ProducerOptions(
        group=str(given["group"]),
        credentials=access.credentials,
        timeout_ms=timeout_ms,
        retry_count=retries,
        async_retry_count=retries,
        avoids_slow_brokers=bool(given["avoid_slow"]),
        uses_vip_port=bool(given["vip"]),
    )


def _selector(place: int) -> Selector:
    def select(queues: Sequence[MessageQueue]) -> MessageQueue:
        if place < len(queues):
            return queues[place]
        remark = f"--queue {place}: the topic has {len(queues)} queues, from 0 on"
        raise ClientError(Failure(reason=Reason.ILLEGAL, remark=remark))

    return select


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise click.UsageError(f"--property {text!r} is not NAME=VALUE")
    return name, value

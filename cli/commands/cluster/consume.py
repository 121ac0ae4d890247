"""``rmqc consume``: read messages with the reference consumer."""

from __future__ import annotations

import asyncio
import signal
import ssl
import sys
from contextlib import suppress

import click

from cli.commands.cluster.produce import NAMESRV
from cli.options.access import with_access
from cli.options.exit_codes import FINDINGS, SUCCESS
from conformance.harness.client.access import Access
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.remoting.errors import ClientError
from reference.shell.client.consumers import ConsumerClient
from reference.shell.client.identity import client_id
from spec.printable import printable
from spec.wire.message.properties import Property
from spec.wire.producer.select_queue import ROUTE_PERIOD_MS

MODELS = {"clustering": False, "broadcasting": True}
STANDING = "DEFAULT"
"""Java's name of an instance whose offsets stay with this machine."""
CONNECT_TIMEOUT_S = 3.0
ROUTE_WAIT_S = 5.0
"""Seconds in which a name server returns the route of an existing topic."""


@click.command()
@NAMESRV
@click.option(
    "-g",
    "--group",
    default="rmqc_consumer",
    show_default=True,
    help="Consumer group, whose members share the queues.",
)
@click.option("--expression", default="*", show_default=True, help="Tags, as 'A || B'.")
@click.option(
    "--from",
    "begin",
    type=click.Choice(["first", "last"]),
    default="last",
    show_default=True,
    help="First offset of a group without a committed offset. A broker returns 0 as the"
    " committed one while a queue's first message is in memory: last begins there too.",
)
@click.option(
    "--model",
    type=click.Choice(list(MODELS)),
    default="clustering",
    show_default=True,
    help="Share the queues with the group, or read all of them.",
)
@click.option("--count", type=click.IntRange(1), help="End after this many messages.")
@click.option(
    "--idle-s", type=click.FloatRange(0), help="End after this time without a message."
)
@click.option(
    "--in-order",
    "is_orderly",
    is_flag=True,
    help="Consume each queue in order, under its lock.",
)
@click.option("--fail", is_flag=True, help="Send every message back, for a retry.")
@with_access
@click.argument("topic")
def consume(
    *,
    access: Access,
    namesrv: str,
    group: str,
    expression: str,
    begin: str,
    model: str,
    count: int | None,
    idle_s: float | None,
    is_orderly: bool,
    fail: bool,
    topic: str,
) -> None:
    """Read TOPIC as a member of a group, until Ctrl-C.

    Prints a line for each message: broker, queue, offset, tag, id, body. The exit code
    is 1 if fewer than --count messages arrived. Without a name server it tries again,
    until --idle-s or Ctrl-C.
    """
    # A script's shell starts a command in the background with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        options = ConsumerOptions(
            group=group,
            credentials=access.credentials,
            client_id=client_id(STANDING if MODELS[model] else None),
            topic=topic,
            expression=expression,
            from_first=begin == "first",
            broadcasts=MODELS[model],
            is_orderly=is_orderly,
        )
        reading = _Reading(count, idle_s, fail=fail)
        asyncio.run(reading.read(namesrv, options, access.tls))
    except ClientError as error:
        raise click.UsageError(str(error)) from None
    except KeyboardInterrupt:
        pass
    is_short = count is not None and reading.seen < count
    sys.exit(FINDINGS if is_short else SUCCESS)


class _Reading:
    """A consumer's limits, and the number of messages that it printed."""

    def __init__(self, count: int | None, idle_s: float | None, *, fail: bool) -> None:
        self.seen = 0
        self._count = count
        self._idle_s = idle_s
        self._fail = fail

    async def read(
        self, namesrv: str, options: ConsumerOptions, tls: ssl.SSLContext | None
    ) -> None:
        """Print messages up to the count, or until none arrives for the idle time."""
        is_reachable = await _is_reachable(namesrv)
        if not is_reachable:
            _report_unreachable(namesrv)
        async with ConsumerClient(namesrv, options, tls=tls) as consumer:

            def report_no_route() -> None:
                if is_reachable and not consumer.has_route:
                    _report_no_route(namesrv, options.topic)

            asyncio.get_running_loop().call_later(ROUTE_WAIT_S, report_no_route)
            while self._count is None or self.seen < self._count:
                try:
                    delivery = await asyncio.wait_for(consumer.take(), self._idle_s)
                except TimeoutError:
                    if is_reachable:
                        self._report_missing(consumer.has_route, options)
                    return
                (message,) = delivery.messages
                click.echo(_line(message))
                self.seen += 1
                failed = delivery.messages if self._fail else ()
                consumer.process_consume_result(delivery, failed)

    def _report_missing(self, has_route: bool, options: ConsumerOptions) -> None:
        """Print the reason if no message arrived, or fewer than the count."""
        topic = options.topic
        if not has_route:
            click.echo(f"the topic {topic} has no route", err=True)
        elif self.seen < (self._count or 1):
            wanted = f" of {self._count}" if self._count else ""
            click.echo(
                f"{self.seen}{wanted} messages of {topic} for the group"
                f" {options.group} and the expression {options.expression!r},"
                f" then none for {self._idle_s:g} s",
                err=True,
            )


async def _is_reachable(namesrv: str) -> bool:
    """Return whether a name server accepts a connection."""
    for address in namesrv.split(";"):
        host, _, port = address.rpartition(":")
        with suppress(OSError, ValueError):
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
            writer.close()
            return True
    return False


def _report_unreachable(namesrv: str) -> None:
    retry_s = ROUTE_PERIOD_MS // 1000
    click.echo(
        f"no connection to the name server {namesrv}; trying again every {retry_s} s",
        err=True,
    )


def _report_no_route(namesrv: str, topic: str) -> None:
    retry_s = ROUTE_PERIOD_MS // 1000
    click.echo(
        f"no route of the topic {topic} from the name server {namesrv};"
        f" trying again every {retry_s} s",
        err=True,
    )


def _line(message: MessageExt) -> str:
    place = f"{message.queue.broker_name} queue {message.queue.queue_id}"
    tag = message.properties.get(Property.TAGS, "-")
    body = message.body.decode("utf-8", "backslashreplace")
    offset = message.record.queue_offset
    # Only the line feeds and tabs of a body are kept: the text is a producer's.
    parts = (map(printable, line.split("\t")) for line in body.split("\n"))
    shown = "\n".join(map("\t".join, parts))
    ids = printable(f"{place} offset {offset} {tag} {message.message_id}")
    return f"{ids} {shown}"

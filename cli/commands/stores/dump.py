"""
``rmqc dump``: the messages of a store or of a commit-log file.

The input is only read. Damage is passed over, with one line each on standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options.common import LocalPath
from cli.options.exit_codes import FINDINGS, SUCCESS, reason_of
from cli.options.moment import Moment
from spec.printable import printable

if TYPE_CHECKING:
    from reference.core.salvage.readable_records import DamagedRange, FoundRecord

FORMATS = ("json", "csv", "bodies")
SHOWN_TOPICS = 10


class NotDumped(click.ClickException):
    """The input is no store and no commit-log file, or it cannot be read."""

    exit_code = 2


@click.command()
@click.argument("source", type=LocalPath(exists=True, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="json",
    show_default=True,
    help="json: an object a line; csv: without bodies; bodies: a body a line.",
)
@click.option("--topic", help="Only messages of this topic.")
@click.option("--key", help="Only messages with this key or unique key.")
@click.option("--from", "begin", type=Moment(), help="Only messages stored since.")
@click.option("--to", "end", type=Moment(), help="Only messages stored before.")
def dump(
    *,
    source: Path,
    form: str,
    topic: str | None,
    key: str | None,
    begin: int | None,
    end: int | None,
) -> None:
    """Print the messages of SOURCE, a store or a commit-log file, in the log's order.

    An object of --format json has offset, topic, queue, queueOffset, bornTime,
    storeTime, bornHost, storeHost, properties, flag, sysFlag, reconsumeTimes and body,
    inflated if it was compressed. A body that is not UTF-8 is in bodyBase64 instead.
    preparedTransactionOffset and compression are present if they have a value. Times of
    --from and --to are like 2026-11-23T20:00 in UTC, or milliseconds since 1970.
    Records that a salvage has put in the place of damage are left out.

    Exit codes: 0 everything could be read, 1 damage was passed over, 2 the input is not
    a commit log. A directory or a broken link in place of a commit-log file is damage.
    """
    from cli.runs.stores.dump_records import WRITERS, Selection, describe
    from reference.core.salvage.log_plan import is_bridge
    from reference.core.salvage.readable_records import FoundRecord

    if begin is not None and end is not None and begin >= end:
        raise click.UsageError("--from is not before --to")
    selection = Selection(topic=topic, key=key, begin_ms=begin, end_ms=end)
    is_all = all(one is None for one in selection)
    write = WRITERS[form](sys.stdout.buffer)
    is_whole, topics = True, set[str]()
    for found in _parts(source):
        if not isinstance(found, FoundRecord):
            is_whole = False
            click.echo(describe(found), err=True)
            continue
        record = found.record
        if is_bridge(record):
            continue
        topics.add(record.topic)
        if is_all or selection.has(record):
            write(found)
    if topic is not None and topic not in topics:
        some = ", ".join(map(printable, sorted(topics)[:SHOWN_TOPICS])) or "none"
        click.echo(f"no message of topic {topic}; topics here: {some}", err=True)
    sys.exit(SUCCESS if is_whole else FINDINGS)


def _parts(source: Path) -> Iterator[FoundRecord | DamagedRange | str]:
    """Yield the records and the damage of *source*."""
    from cli.runs.stores.dump_records import DumpError, parts_of

    try:
        yield from parts_of(source)
    except DumpError as error:
        raise NotDumped(str(error)) from error
    except OSError as error:
        raise NotDumped(reason_of(error, source)) from error

"""The stores of ``rmqc audit``, audited one after the other on one Spark."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_checks.audit import Audit, Progress
    from spark_checks.broker_conf import BrokerConf
    from spark_checks.sampling import Wish


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How stores are to be audited."""

    master: str
    only: Collection[str]
    broker_conf: Path | None
    directory: Path | None
    against: str | None
    since_ms: int | None
    sampled: Wish | None
    pictured: bool


def audits(stores: tuple[str, ...], wishes: Wishes) -> list[Audit]:
    """Return the audits of *stores*, all on one Spark.

    Raises what reading a store or its configuration, a sample, an export or Spark
    may; a store that is to be compared with itself ends the program.
    """
    from spark_checks.broker_conf import BrokerConf, read_broker_conf
    from spark_checks.session import spark_session
    from spark_checks.sources.store_files import (
        is_same_place,
        list_store,
        shown_url,
    )
    from spark_checks.views import export

    conf = BrokerConf()
    if wishes.broker_conf:
        conf = read_broker_conf(wishes.broker_conf)
    # Listed now, so that a wrong path does not wait for Spark to start.
    listed = [list_store(url) for url in (*stores, *filter(None, [wishes.against]))]
    size = max(store.commit_log_size for store in listed)
    if wishes.sampled is not None:
        size = round(size * wishes.sampled.fraction)
    if wishes.against and is_same_place(stores[0], wishes.against):
        fail(f"{shown_url(stores[0])} is asked to be compared with itself", code=2)
    with _progress() as progress:
        progress("starting Spark")
        with spark_session(wishes.master, has_sources=False, size=size) as session:
            if wishes.directory:
                progress("writing tables")
                export(session, stores[0], wishes.directory)
            return [
                _audited(session, store, conf, wishes, progress) for store in stores
            ]


def _audited(
    session: SparkSession,
    store: str,
    conf: BrokerConf,
    wishes: Wishes,
    progress: Progress,
) -> Audit:
    """Return the audit of *store*, compared with another one if that is wished."""
    from spark_checks.against.audited import compared_with
    from spark_checks.audit import audit_store

    only = wishes.only
    found = audit_store(
        session,
        store,
        conf=conf,
        only=only,
        pictured=wishes.pictured,
        since_ms=wishes.since_ms,
        sampled=wishes.sampled,
        progress=progress,
    )
    if wishes.against is None:
        return found
    return compared_with(
        session,
        found,
        (store, wishes.against),
        conf=conf,
        only=only,
        progress=progress,
    )


@contextmanager
def _progress() -> Iterator[Progress]:
    """Lend a way to say what is going on: on a terminal only."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _step: None
        return
    with console.status("") as status:
        yield lambda step: status.update(step)


def fail(reason: str, *, code: int) -> NoReturn:
    """End the program with one line."""
    click.echo(f"rmqc audit: {reason}", err=True)
    sys.exit(code)

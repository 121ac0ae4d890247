"""
``rmqc recover``: what a broker's start would do to a store, before anybody starts it.

With ``--dry-run`` the store is only read. Without, it is copied, and the copy is
recovered; the original is not written to in any case.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import format_option
from spec.store.file_names import ABORT, CHECKPOINT, COMMIT_LOG, CONSUME_QUEUE

if TYPE_CHECKING:
    from reference.core.start.predict import Settings
    from reference.shell.read_only import ReadOnlyStore

STORE_NAMES = (COMMIT_LOG, CONSUME_QUEUE, CHECKPOINT, ABORT)
"""A directory that has one of these is a store."""


class Unreadable(click.ClickException):
    """There is no store, or it cannot be read."""

    exit_code = 2


@click.command()
@click.argument("store", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--release", required=True, help="Whose start: 4.4.0, 4.6.0, 4.9.7, ...")
@click.option("--dry-run", is_flag=True, help="Only say it; write nothing anywhere.")
@click.option(
    "--broker-conf",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The broker's configuration; without it, file sizes are seen by the files.",
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it there."
)
@format_option(("table", "json"))
def recover(
    *,
    store: Path,
    release: str,
    dry_run: bool,
    broker_conf: Path | None,
    out: Path | None,
    form: str,
) -> None:
    """Say what the start of a broker would do to a store.

    Whether it starts; where recovery begins and what it cuts off; which messages are
    lost, or stay in the log without anybody seeing them; which offsets of groups and
    delay levels lie outside their queues. STORE itself is never written to. Exit
    codes: 0 it starts and nothing is lost, 1 findings, 2 unreadable input.
    """
    if not dry_run:
        raise Unreadable("without --dry-run it does nothing yet")
    from cli.recover_report import as_json, as_text
    from reference.core.start.predict import predict
    from reference.core.start.view import ViewError
    from reference.core.store.recovery_rules import rules_of
    from reference.shell.read_only import ReadOnlyStore

    try:
        rules = rules_of(release)
        with _progress(store) as progress:
            view = ReadOnlyStore(store, progress)
            settings = _settings(view, broker_conf)
            outcome = predict(view, rules, settings)
    except (ViewError, ValueError) as error:
        raise Unreadable(str(error)) from error
    text = (as_json if form == "json" else as_text)(str(store), outcome)
    _write(text, out)
    sys.exit(0 if outcome.is_harmless else 1)


def _settings(view: ReadOnlyStore, broker_conf: Path | None) -> Settings:
    """Return what the configuration says, or what the files show without one."""
    from reference.core.broker.options import BrokerOptions
    from reference.core.java_properties import read_properties
    from reference.core.start.predict import Settings
    from reference.core.start.sizes import Sizes, seen_sizes

    if not any(view.exists(name) for name in STORE_NAMES):
        raise Unreadable(f"{view.directory} is no store: it has no commitlog")
    if broker_conf is None:
        return Settings(sizes=seen_sizes(view))
    text = broker_conf.read_text("utf-8", "replace")
    options = BrokerOptions(settings=read_properties(text)).store_options()
    return Settings(
        sizes=Sizes(
            commit_log=options.commit_log_file_size,
            consume_queue=options.consume_queue_file_size,
        ),
        check_crc=options.check_crc_on_recover,
        index_item_count=options.index_item_count,
        index_enabled=options.index_enabled,
        index_is_safe=options.index_safe and options.index_enabled,
    )


@contextmanager
def _progress(store: Path) -> Iterator[Callable[[int], None]]:
    """Lend a way to say how much was read: on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _size: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"reading {store.name}", total=None)
        yield lambda size: progress.advance(task, size)


def _write(text: str, out: Path | None) -> None:
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"{out} cannot be written: {error.strerror}") from error

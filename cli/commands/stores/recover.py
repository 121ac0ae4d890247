"""
``rmqc recover``: what a broker's start would do to a store, before anybody starts it.

The store is only read. With ``--copy`` it is copied as well, and the copy is recovered.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options.common import LocalPath, format_option
from cli.options.exit_codes import reason_of
from cli.options.output import out_option, write_result
from cli.options.progress import bytes_read
from cli.options.releases import recoverable_releases, release_option
from spec.clause import release_key
from spec.store.file_names import reason_without_log

if TYPE_CHECKING:
    from cli.runs.stores.recover_copy import CopyRecovered
    from reference.core.recovery_forecast.outcome import Outcome
    from reference.core.store.types import StoreOptions
    from reference.shell.storage.read_only_files import ReadOnlyStore

SETTINGS_OF = (4, 6)
"""Series of releases whose settings the reference has in a table."""


class Unreadable(click.ClickException):
    """The store is missing, or it cannot be read."""

    exit_code = 2


@click.command()
@click.argument("store", type=LocalPath(exists=True, file_okay=False, path_type=Path))
@release_option(
    "The release to start, as 4.6.", among=recoverable_releases, required=True
)
@click.option(
    "--dry-run", is_flag=True, help="Write nothing anywhere, as without --copy."
)
@click.option(
    "--copy",
    "target",
    type=LocalPath(path_type=Path),
    help="Copy the store to this new or empty directory, and recover the copy.",
)
@click.option(
    "--broker-conf",
    type=LocalPath(exists=True, dir_okay=False, path_type=Path),
    help="The broker's configuration; without it, file sizes are inferred.",
)
@out_option()
@format_option(("table", "json"))
def recover(
    *,
    store: Path,
    release: str,
    dry_run: bool,
    target: Path | None,
    broker_conf: Path | None,
    out: Path | None,
    form: str,
) -> None:
    """Forecast the effects of a broker's start on a store.

    The report contains: whether the broker starts, the first file that is recovered,
    and the bytes that are truncated. It lists the messages that are lost, and those
    that stay in the log without a unit. It lists the offsets of groups and delay
    levels outside their queues. STORE itself is never written to.

    Exit codes: 0 it starts and nothing is lost, 1 findings, 2 unreadable input.
    """
    if dry_run and target is not None:
        raise click.UsageError("--dry-run writes nothing, --copy writes a copy")
    from cli.pages.recover_report import as_json, as_text
    from reference.core.recovery_forecast.forecast import forecast
    from reference.core.recovery_forecast.store_view import ViewError
    from reference.core.store.recovery.rules import rules_of
    from reference.shell.storage.read_only_files import ReadOnlyStore

    try:
        rules = rules_of(release)
        with bytes_read(store) as progress:
            view = ReadOnlyStore(store, progress)
            options = _options(view, broker_conf, release)
            outcome = forecast(view, rules, options)
    except (ViewError, ValueError) as error:
        raise Unreadable(str(error)) from error
    except OSError as error:
        raise Unreadable(reason_of(error, store)) from error
    done = None
    if target is not None and outcome.refusal is None:
        done = _recover_copy(store, target, outcome, options)
    render = as_json if form == "json" else as_text
    text = render(str(store), outcome, done)
    write_result(text, out, is_table=form == "table")
    sys.exit(0 if outcome.is_harmless else 1)


def _options(
    view: ReadOnlyStore, broker_conf: Path | None, release: str
) -> StoreOptions:
    """Return the options of the configuration, or without one those of the files.

    Names that are no settings are shown, for the release whose settings are known.
    """
    from cli.runs.stores.broker_settings import broker_settings, warn_of_other_log
    from reference.core.broker.broker_config import BrokerOptions
    from reference.core.recovery_forecast.store_view import inferred_options

    reason = reason_without_log(os.listdir(view.directory))
    if reason:
        raise Unreadable(f"{view.directory} {reason}")
    if broker_conf is None:
        return inferred_options(view)
    settings = broker_settings(broker_conf)
    warn_of_other_log(settings, view.directory)
    if release_key(release)[:2] == SETTINGS_OF:
        for line in BrokerOptions.unknown(settings).values():
            click.echo(f"{broker_conf}: {line}", err=True)
    return BrokerOptions(settings).store_options()


def _recover_copy(
    store: Path, target: Path, outcome: Outcome, options: StoreOptions
) -> CopyRecovered:
    """Copy *store* to *target*, and recover the copy."""
    from cli.runs.stores.recover_copy import recover_copy
    from reference.core.store.mapped.files import FilesError
    from reference.shell.storage.store_copy import CopyError

    try:
        return recover_copy(store, target, outcome, options)
    except CopyError as error:
        raise Unreadable(str(error)) from error
    except FilesError as error:
        raise Unreadable(f"the copy was not recovered: {error}") from error
    except OSError as error:
        raise Unreadable(reason_of(error, store)) from error

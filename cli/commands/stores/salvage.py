"""
``rmqc salvage``: a new store of every message that can still be read.

The damaged store is only read.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cli.options.common import LocalPath, format_option
from cli.options.exit_codes import FINDINGS, SUCCESS, InterruptedCommand, reason_of
from cli.options.output import out_option, write_result
from cli.options.progress import bytes_read
from cli.options.releases import recoverable_releases, release_option


class NotSalvaged(click.ClickException):
    """The input is no store, or the new store cannot be written."""

    exit_code = 2


@click.command()
@click.argument("store", type=LocalPath(exists=True, file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    "target",
    required=True,
    type=LocalPath(path_type=Path),
    help="Directory of the new store; it must be empty or not exist.",
)
@release_option(
    "The release that will start on the new store, as 4.6: records that it cannot read"
    " are left out, and its start is forecast (default: by the files of STORE).",
    among=recoverable_releases,
)
@click.option(
    "--master",
    help="Spark master whose workers read STORE and write the new log, for a store that"
    " is too large for one process. They see both directories at the same paths"
    " (default: this process).",
)
@out_option()
@format_option(("table", "json"))
def salvage(
    *,
    store: Path,
    target: Path,
    release: str | None,
    master: str | None,
    out: Path | None,
    form: str,
) -> None:
    """Write a new store of every message of STORE that can still be read.

    A broker's start ends the commit log at the first damage that its recovery reads.
    This command also takes the messages behind it. Each keeps its commit-log offset,
    and so its message id. Consume queues, index, checkpoint and config files are made
    anew. Stop the broker first: STORE is only read, and must not change meanwhile.

    A queue has no room for a lost message. Where one is lost, the later messages of its
    queue move to lower queue offsets, and the committed offsets of groups with them. An
    offset of a group or a delay level behind the new end of its queue is set to it.

    The new store is complete or does not exist. Only a killed salvage leaves the
    directory salvage.partial in NEW, which is to be deleted.

    Exit codes: 0 nothing is lost, 1 something is lost or damaged, 2 unreadable or in
    use, or the output cannot be written, 130 interrupted.
    """
    from cli.pages.salvage_report import as_json, as_text
    from cli.runs.stores.commit_log_files import log_size
    from cli.runs.stores.salvage_store import salvage_store
    from cli.runs.stores.salvage_target import SalvageError
    from reference.core.recovery_forecast.store_view import ViewError
    from reference.core.store.mapped.files import FilesError

    try:
        with bytes_read(store, log_size(store)) as progress:
            result = salvage_store(
                store, target, progress, release=release, master=master
            )
    except SalvageError as error:
        raise NotSalvaged(str(error)) from error
    except (ViewError, FilesError) as error:
        raise NotSalvaged(f"{error}; {target} was not written") from error
    except OSError as error:
        reason = reason_of(error, store)
        raise NotSalvaged(f"{reason}; {target} was not written") from error
    except KeyboardInterrupt:
        text = f"interrupted; {target} was not written"
        raise InterruptedCommand(text) from None
    text = as_json(result) if form == "json" else as_text(result)
    write_result(text, out, is_table=form == "table")
    lacks = result.damaged, result.lost, result.unreadable, result.warnings
    is_whole = not any(lacks)
    sys.exit(SUCCESS if is_whole else FINDINGS)

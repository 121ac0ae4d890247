"""The stores of ``rmqc audit``, audited one after the other on one Spark."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from cli.runs.stores.audit_progress import shown_progress

if TYPE_CHECKING:
    from pyspark import SparkContext

    from spark_checks.audit import Audit, NotAudited
    from spark_checks.broker_conf import BrokerConf
    from spark_checks.progress import Progress
    from spark_checks.report.start_forecast import StartForecast
    from spark_checks.sampling import SampleSpec

T = TypeVar("T")
SIGNALLED = 128
"""Exit code of a command that a signal ended, without the signal's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """How stores are to be audited."""

    master: str
    only: Collection[str]
    broker_conf: Path | None
    directory: Path | None
    against: str | None
    since_ms: int | None
    sample_spec: SampleSpec | None
    with_charts: bool
    release: str | None
    """Release whose start is forecast; None for a guess."""


def audits(stores: Sequence[str], options: AuditOptions) -> list[Audit | NotAudited]:
    """Return the audits of *stores*, all on one Spark.

    Of several stores, those that cannot be read are NotAudited. A single one raises
    NotAStoreError. Errors of the configuration, the sample, the export and Spark are
    raised. A comparison of a store with itself ends the program.
    """
    from spark_checks.broker_conf import BrokerConf, read_broker_conf
    from spark_checks.session.session import session_of, spark_context
    from spark_checks.store_files import Store, is_same_place, list_store, shown_url
    from spark_checks.views import export

    conf = BrokerConf()
    if options.broker_conf:
        conf = read_broker_conf(options.broker_conf)
        _check_settings(options.broker_conf)
    are_many = len(stores) > 1
    # Listed now, so that a wrong path does not wait for Spark to start.
    listed = [_tried(list_store, url, are_many=are_many) for url in stores]
    readable = [one for one in listed if isinstance(one, Store)]
    if not readable:
        return [one for one in listed if not isinstance(one, Store)]
    size = max(store.commit_log_size for store in readable)
    if options.against:
        size = max(size, list_store(options.against).commit_log_size)
        if is_same_place(stores[0], options.against):
            fail(f"{shown_url(stores[0])} cannot be compared with itself", code=2)
    if options.sample_spec is not None:
        size = round(size * options.sample_spec.fraction)
    with shown_progress(len(stores)) as progress:
        progress("starting Spark")
        with (
            spark_context(options.master, size=size, progress=progress) as context,
            progress.following(context),
        ):
            if options.directory:
                progress("writing tables")
                export(session_of(context), stores[0], options.directory)

            def audited(url: str) -> Audit:
                return _audited(context, url, conf, options, progress)

            found: list[Audit | NotAudited] = []
            for number, one in enumerate(listed, 1):
                progress.begin_store(number)
                if isinstance(one, Store):
                    found.append(_tried(audited, one.url, are_many=are_many))
                else:
                    found.append(one)
            return found


def _check_settings(broker_conf: Path) -> None:
    """End the program if no broker starts with *broker_conf*.

    Otherwise the forecast of a start would fail at the end of a long audit.
    """
    from cli.runs.stores.start_forecasts import read_options
    from reference.core.settings import SettingError

    try:
        read_options(broker_conf)
    except SettingError as error:
        fail(f"{broker_conf}: {error}", code=2)


def _tried(action: Callable[[str], T], url: str, *, are_many: bool) -> T | NotAudited:
    """Return the result of *action* on the store at *url*.

    A store that cannot be read does not end the audit of others, if there *are_many*.
    """
    from spark_checks.audit import NotAudited
    from spark_checks.store_files import NotAStoreError, shown_url

    try:
        return action(url)
    except NotAStoreError as error:
        if not are_many:
            raise
        return NotAudited(store=shown_url(url), reason=str(error))


def _audited(
    context: SparkContext,
    store: str,
    conf: BrokerConf,
    options: AuditOptions,
    progress: Progress,
) -> Audit:
    """Return the audit of *store*, compared with ``--against`` if it is given."""
    from spark_checks.against.comparison import compared_with
    from spark_checks.audit import audit_store
    from spark_checks.session.session import session_of

    only = options.only
    found = audit_store(
        context,
        store,
        conf=conf,
        only=only,
        with_charts=options.with_charts,
        since_ms=options.since_ms,
        sample_spec=options.sample_spec,
        progress=progress,
    )
    if (found.findings or found.unrequested_damage) and not found.is_live:
        progress("forecasting a start")
        found = replace(found, forecast=_forecast(store, options))
    if options.against is None:
        return found
    return compared_with(
        session_of(context),
        found,
        (store, options.against),
        conf=conf,
        only=only,
        progress=progress,
    )


def _forecast(store: str, options: AuditOptions) -> StartForecast | None:
    from cli.runs.stores.start_forecasts import read_options, start_forecast

    given = None
    if options.broker_conf is not None:
        given = read_options(options.broker_conf).store_options()
    return start_forecast(store, options.release, given)


class Failed(click.ClickException):
    """End of the program with one line and an exit code."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason)
        self.exit_code = code  # type: ignore[misc] # click reads it of the instance

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        click.echo(f"rmqc audit: {self.message}", file=file, err=file is None)


def fail(reason: str, *, code: int) -> NoReturn:
    """End the program with one line."""
    raise Failed(reason, code) from None


@contextmanager
def ended_by_interrupt() -> Iterator[None]:
    """End the program with one line on Ctrl-C or SIGTERM, after all cleaning up.

    PySpark and Py4J raise other errors for calls that a signal interrupts. Python
    therefore writes the number of each signal to a pipe.
    """
    numbers, to_write = os.pipe()
    for end in (numbers, to_write):
        os.set_blocking(end, False)
    before = signal.set_wakeup_fd(to_write, warn_on_full_buffer=False)
    try:
        yield
    except BaseException:
        with suppress(BlockingIOError):  # no signal was received
            fail("interrupted", code=SIGNALLED + os.read(numbers, 1)[0])
        raise
    finally:
        signal.set_wakeup_fd(before)
        for end in (numbers, to_write):
            os.close(end)

"""The stores of ``rmqc audit``, audited one after the other on one Spark."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cli.options.exit_codes import USAGE, InterruptedCommand, fail
from cli.runs.stores.audit_progress import AuditProgress, shown_progress

if TYPE_CHECKING:
    from pyspark import SparkContext

    from cli.pages.audit.audited_store import AuditedStore
    from reference.core.store.types import StoreOptions
    from spark_checks.audit import NotAudited
    from spark_checks.broker_conf import BrokerConf
    from spark_checks.sampling import SampleSpec
    from spark_checks.store_files import Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Options of the audit of one or more stores."""

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


def audits(
    stores: Sequence[str], options: AuditOptions
) -> list[AuditedStore | NotAudited]:
    """Return the audits of *stores*, all on one Spark.

    Of several stores, those that cannot be read are NotAudited. A single one raises
    NotAStoreError. Errors of the configuration, the sample, the export and Spark are
    raised. A comparison of a store with itself ends the program.
    """
    from reference.shell.storage.store_copy import removed_on_failure
    from spark_checks.broker_conf import BrokerConf, read_broker_conf
    from spark_checks.file_systems import is_same_place, shown_url
    from spark_checks.session.session import session_of, spark_context
    from spark_checks.store_files import Store, list_store
    from spark_checks.views import check_directory, export

    conf, store_options = BrokerConf(), None
    if options.broker_conf:
        conf = read_broker_conf(options.broker_conf)
        # Now, so that a wrong value does not end a long audit.
        store_options = _store_options(options.broker_conf, stores)
    are_many = len(stores) > 1
    # Listed now, so that a wrong path does not wait for Spark to start.
    listed = [_tried(list_store, url, are_many=are_many) for url in stores]
    readable = [one for one in listed if isinstance(one, Store)]
    if not readable:
        return [one for one in listed if not isinstance(one, Store)]
    if options.directory:
        check_directory(options.directory, stores[0])
    if options.against and is_same_place(stores[0], options.against):
        fail(f"{shown_url(stores[0])} cannot be compared with itself", code=USAGE)
    size = _log_size(readable, options)
    with shown_progress(len(stores)) as progress:
        progress("starting Spark")
        with (
            spark_context(options.master, size=size, progress=progress) as context,
            progress.following(context),
        ):
            if options.directory:
                progress("writing tables")
                with removed_on_failure(options.directory):
                    export(session_of(context), stores[0], options.directory)

            def audited(url: str) -> AuditedStore:
                return _audited(context, url, conf, store_options, options, progress)

            found: list[AuditedStore | NotAudited] = []
            for number, one in enumerate(listed, 1):
                progress.begin_store(number)
                if isinstance(one, Store):
                    found.append(_tried(audited, one.url, are_many=are_many))
                else:
                    found.append(one)
            return found


def _log_size(stores: Sequence[Store], options: AuditOptions) -> int:
    """Return the bytes that are read of the largest log of *stores*."""
    from spark_checks.store_files import list_store

    logs = [*stores, list_store(options.against)] if options.against else stores
    size = max(store.commit_log_size for store in logs)
    spec = options.sample_spec
    return size if spec is None else round(size * spec.fraction)


def _store_options(broker_conf: Path, stores: Sequence[str]) -> StoreOptions:
    """Return the options of the store of a broker with *broker_conf*.

    Show a line if one of *stores* is its store, and its log is elsewhere. Raises
    ConfError for a value with which no broker starts.
    """
    from cli.runs.stores.broker_settings import broker_settings, warn_of_other_log
    from reference.core.broker.broker_config import BrokerOptions
    from reference.core.settings import SettingError
    from spark_checks.broker_conf import ConfError

    try:
        settings = broker_settings(broker_conf)
        for one in stores:
            warn_of_other_log(settings, Path(one))
        return BrokerOptions(settings).store_options()
    except SettingError as error:
        raise ConfError(f"{broker_conf}: {error}") from None


def _tried(action: Callable[[str], T], url: str, *, are_many: bool) -> T | NotAudited:
    """Return the result of *action* on the store at *url*.

    A store that cannot be read does not end the audit of others, if there *are_many*.
    """
    from spark_checks.audit import NotAudited
    from spark_checks.file_systems import NotAStoreError, shown_url

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
    store_options: StoreOptions | None,
    options: AuditOptions,
    progress: AuditProgress,
) -> AuditedStore:
    """Return the audit of *store*, compared with ``--against`` if it is given.

    A start is forecast with *store_options*; None for those inferred from the files.
    """
    from cli.pages.audit.audited_store import AuditedStore
    from cli.runs.stores.start_forecasts import start_forecast
    from spark_checks.against.comparison import compared_with
    from spark_checks.audit import audit_store
    from spark_checks.session.session import session_of

    only, forecast = options.only, None
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
        forecast = start_forecast(
            store, options.release, store_options, on_part=progress.advance
        )
    if options.against is not None:
        found = compared_with(
            session_of(context),
            found,
            (store, options.against),
            conf=conf,
            only=only,
            progress=progress,
        )
    return AuditedStore(audit=found, forecast=forecast)


@contextmanager
def ended_by_interrupt() -> Iterator[None]:
    """End the program with one line on Ctrl-C or SIGTERM, after all cleaning up.

    PySpark and Py4J raise other errors for calls that a signal interrupts. Python
    ignores the exception of a signal that arrives in a finaliser, and the audit then
    completes. Python therefore writes each signal to a pipe.
    """
    to_read, to_write = os.pipe()
    for end in (to_read, to_write):
        os.set_blocking(end, False)
    before = signal.set_wakeup_fd(to_write, warn_on_full_buffer=False)
    try:
        try:
            yield
        finally:
            with suppress(BlockingIOError):  # no signal was received
                os.read(to_read, 1)
                raise InterruptedCommand("interrupted")
    finally:
        signal.set_wakeup_fd(before)
        for end in (to_read, to_write):
            os.close(end)

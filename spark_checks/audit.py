"""
Audit one store for all invariants.

The audit lists the files and surveys all bytes once. It then checks names, sizes and
whole files. Rows are compared only where two sides of the survey differ.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_checks.broker_conf import BrokerConf
from spark_checks.chart_data import Histogram
from spark_checks.checks.compare_rows import compare_rows
from spark_checks.checks.run_checks import SurveyedStore
from spark_checks.file_systems import shown_url
from spark_checks.findings import INVARIANTS, Finding, Severity, in_order, is_damage
from spark_checks.invariants import checkpoints, databases, epochs, files
from spark_checks.invariants.config import config_tables, config_values, settings
from spark_checks.invariants.index import index_headers
from spark_checks.invariants.index.index_items import (
    KEY_INVARIANTS,
    key_findings,
    key_ranges,
)
from spark_checks.invariants.lmq_and_batch import lmq_and_batch_findings
from spark_checks.invariants.pop.check_pop import check_pop
from spark_checks.invariants.system_topics import (
    LEDGER_INVARIANTS,
    system_topic_findings,
)
from spark_checks.invariants.timer.check_timer import check_timer
from spark_checks.live_store import confirmed, is_locked, log_end_of
from spark_checks.progress import Progress, silent
from spark_checks.sampling import Sample, SampleSpec, checked_ids, sample_of
from spark_checks.session.failures import FAILURES, failed
from spark_checks.since import is_about_earlier, part_since
from spark_checks.situation import situation_of
from spark_checks.store_files import Store, list_store, mapped_file_size
from spark_checks.store_summary import store_summary
from spark_checks.survey.summary import SurveySummary
from spark_checks.survey.survey import survey_uncut


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Result of the audit of one store."""

    store: str
    summary: Mapping[str, object]
    survey_summary: SurveySummary = field(repr=False)
    """Sums of the survey of all bytes."""
    listing: Store = field(repr=False)
    """The audited files and directories."""
    findings: tuple[Finding, ...] = ()
    against: Mapping[str, object] | None = None
    """Comparison with another store, if one was requested."""
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    """Histograms of an HTML page, if one was requested."""
    sample: Sample | None = None
    """Audited part of the log; None for all of it."""
    is_live: bool = False
    """Whether a broker writes to the store; only confirmed errors are reported."""
    unrequested_damage: tuple[Finding, ...] = ()
    """Errors that damage the commit log, of invariants that were not requested."""
    is_log_read_whole: bool = True
    """Whether every record of the log was read."""

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error, not a warning."""
        return any(one.severity is Severity.ERROR for one in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAudited:
    """One of several stores, which could not be read."""

    store: str
    reason: str
    """The reason, in one line."""


def audit_store(
    spark: SparkContext | SparkSession,
    url: str,
    *,
    conf: BrokerConf | None = None,
    only: Collection[str] = (),
    with_charts: bool = False,
    since_ms: int | None = None,
    sample_spec: SampleSpec | None = None,
    progress: Progress = silent,
) -> Audit:
    """Return the audit of the store at *url*; a context makes a session if necessary.

    *only* holds ids of invariants; empty for all. *with_charts* adds the numbers for
    the charts of a page. *since_ms* excludes records stored earlier.

    *sample_spec* selects a part of the log. A store with errors that a broker writes
    to is audited twice. Raises NotAStoreError, SampleError and SparkError.
    """
    once = partial(
        _audit_once,
        spark if isinstance(spark, SparkContext) else spark.sparkContext,
        url,
        conf=conf or BrokerConf(),
        only=only,
        with_charts=with_charts,
        since_ms=since_ms,
        sample_spec=sample_spec,
        progress=progress,
    )
    found = once()
    if not found.is_live or not (found.has_errors or found.unrequested_damage):
        return found
    progress("auditing again, because a broker writes to the store")
    again = once()
    return replace(
        found,
        findings=confirmed(found.findings, again.findings),
        unrequested_damage=confirmed(
            found.unrequested_damage, again.unrequested_damage
        ),
    )


def _audit_once(
    context: SparkContext,
    url: str,
    *,
    conf: BrokerConf,
    only: Collection[str],
    with_charts: bool,
    since_ms: int | None,
    sample_spec: SampleSpec | None,
    progress: Progress,
) -> Audit:
    """Return one audit; see :func:`audit_store`."""
    progress("listing files")
    store = replace(list_store(url), is_slave=conf.is_slave)
    sample, checked = None, set(INVARIANTS)
    requested = set(only or checked)
    if since_ms is not None:
        # Before files are left out.
        log_size = mapped_file_size(store.under("commitlog"))
        log_size = conf.commit_log_file_size or log_size
        conf = replace(conf, commit_log_file_size=log_size)
        store = part_since(store, since_ms)
    if sample_spec is not None:
        requested, checked = set(checked_ids(only)), set(checked_ids(()))
        sample = sample_of(store, sample_spec)
        store = replace(store, parts=sample.ranges)
    try:
        surveyed = surveyed_store(
            context, store, conf, sample, requested=requested, progress=progress
        )
        store = surveyed.store
        log_end = log_end_of(store, surveyed.summary.log_end)
        found, histograms = all_findings(surveyed, conf, with_charts=with_charts)
    except FAILURES as error:
        raise failed(error) from error
    is_live = store.was_left_open and (
        is_locked(store) or log_end_of(store, surveyed.summary.log_end) != log_end
    )
    is_open = store.may_be_unfinished
    found = [one.settled(is_open=is_open) for one in found]
    if is_live:
        found = [one for one in found if one.severity is Severity.ERROR]
    return Audit(
        store=shown_url(url),
        summary={**store_summary(store, surveyed.summary), "live": is_live},
        sample=sample,
        findings=_findings_of(requested, found, store),
        survey_summary=surveyed.summary,
        listing=store,
        histograms=histograms,
        is_live=is_live,
        unrequested_damage=_findings_of(
            checked - requested, filter(is_damage, found), store
        ),
        is_log_read_whole=since_ms is None and sample is None,
    )


def all_findings(
    surveyed: SurveyedStore, conf: BrokerConf, *, with_charts: bool
) -> tuple[list[Finding], Mapping[str, Histogram]]:
    """Return the findings after the survey, and the histograms if requested."""
    found = file_findings(surveyed.store, conf, surveyed.summary)
    at_rows, histograms = compare_rows(surveyed, with_charts=with_charts)
    found += [
        *at_rows,
        *system_topic_findings(surveyed),
        *key_findings(surveyed),
        *lmq_and_batch_findings(surveyed),
    ]
    return found, histograms


def surveyed_store(
    context: SparkContext,
    store: Store,
    conf: BrokerConf,
    sample: Sample | None,
    *,
    requested: Collection[str],
    progress: Progress,
) -> SurveyedStore:
    """Return *store* with the result of its survey."""
    needs_keys = any(one in requested for one in KEY_INVARIANTS)
    situation = replace(
        situation_of(store, conf),
        key_ranges=key_ranges(store) if needs_keys else [],
        needs_system_topics=any(one in requested for one in LEDGER_INVARIANTS),
    )
    size = sum(file.size for file in store.files)
    if sample is not None:
        size -= store.commit_log_size - sample.size
    progress(f"reading {size:,} bytes", size)
    store, survey = survey_uncut(context, store, situation)
    summary = survey.summary
    if sample is not None:
        summary = replace(summary, log_end=max(summary.log_end, sample.certain_end))
    return SurveyedStore(
        context=context,
        store=store,
        summary=summary,
        ledger=survey.ledger,
        situation=summary.completed(situation),
        progress=progress,
        requested=requested,
    )


def _findings_of(
    names: Collection[str], found: Iterable[Finding], store: Store
) -> tuple[Finding, ...]:
    """Return the findings about invariants *names*, in the order of a report."""
    chosen = (one for one in found if one.invariant.id in names)
    return tuple(in_order(one for one in chosen if not is_about_earlier(store, one)))


def file_findings(
    store: Store, conf: BrokerConf, summary: SurveySummary
) -> list[Finding]:
    """Return the findings in names, sizes and whole files of *store*."""
    return [
        *files.check_files(
            store, log_size=conf.commit_log_file_size, queue_size=conf.queue_file_size
        ),
        *databases.check_databases(store),
        *checkpoints.check_checkpoint(store, summary),
        *epochs.check_epochs(store, summary),
        *index_headers.check_index_headers(store, summary),
        *config_tables.check_configuration(store),
        *settings.check_settings(store, summary),
        *config_values.check_config_values(store),
        *config_tables.check_config_tables(store, summary),
        *check_timer(store, conf.timer_log_file_size),
        *check_pop(store),
    ]

"""
An audit: every invariant asked of one store.

First the files' names and sizes, then one pass over all bytes, then, only where
that pass found two sides to disagree, the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from spark_checks.broker_conf import BrokerConf
from spark_checks.digest import Digest, digest, survey
from spark_checks.findings import Finding, Invariant, Severity, in_order
from spark_checks.histograms import Pictured
from spark_checks.invariants import files, settings, side_files
from spark_checks.row_look import INDEX_CHECKS, ROW_CHECKS, look_at_rows
from spark_checks.sampling import Sample, Wish, judged, sample_of
from spark_checks.second_look import (
    SECOND_CHECKS,
    SecondLook,
    is_aside_wanted,
    ranges_wanted,
    second_findings,
)
from spark_checks.session import FAILURES, failed
from spark_checks.since import is_about_earlier, part_since
from spark_checks.situation import situation_of
from spark_checks.sources.store_files import Store, list_store, shown_url
from spark_checks.summary import summary_of
from spark_checks.third_look import THIRD_CHECKS, third_findings

Progress = Callable[[str], None]

FILE_CHECKS: tuple[Invariant, ...] = (
    files.NAMES,
    files.SIZES,
    files.NONE_MISSING,
    files.WHOLE_UNITS,
    side_files.CHECKPOINT_READABLE,
    side_files.CHECKPOINT_NOT_AHEAD,
    side_files.INDEX_HEADER,
    side_files.INDEX_SIZE,
    side_files.CONFIGURATION_READABLE,
    settings.CONSUMED_IN_RANGE,
    settings.DELIVERED_IN_RANGE,
    settings.TOPICS_COVER_QUEUES,
    settings.COPY_READABLE,
)
INVARIANTS: tuple[Invariant, ...] = (
    *FILE_CHECKS,
    *ROW_CHECKS,
    *INDEX_CHECKS,
    *SECOND_CHECKS,
    *THIRD_CHECKS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit of one store found."""

    store: str
    summary: Mapping[str, object]
    findings: tuple[Finding, ...] = field(default=())
    seen: Digest | None = field(default=None, repr=False)
    """What the pass over all bytes saw."""
    against: Mapping[str, object] | None = None
    """How the store stands to another one, if it was compared."""
    pictured: Pictured | None = None
    """What a page's pictures are drawn from, if there is to be one."""
    sample: Sample | None = None
    """The part of the log that was looked at; None if all of it was."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found that a broker would not put right by itself."""
        return all(found.severity is not Severity.ERROR for found in self.findings)


def audit_store(
    session: SparkSession,
    url: str,
    *,
    conf: BrokerConf | None = None,
    only: Collection[str] = (),
    pictured: bool = False,
    since_ms: int | None = None,
    sampled: Wish | None = None,
    progress: Progress = lambda _step: None,
) -> Audit:
    """Return what an audit of the store at *url* finds.

    *only* restricts it to invariants of these ids; *pictured* asks for what a page's
    pictures are drawn from; what was stored before *since_ms* is not judged; of a log
    that is to be *sampled* only a part is. Raises NotAStoreError, SampleError and
    SparkError.
    """
    conf = conf or BrokerConf()
    progress("listing files")
    store = list_store(url)
    sample = None
    if since_ms is not None:
        conf = replace(conf, commit_log_file_size=_log_size(store, conf))
        store = part_since(store, since_ms)
    if sampled is not None:
        only = judged(only, INVARIANTS)
        sample = sample_of(store, sampled)
        store = replace(store, parts=sample.ranges)
    try:
        look = first_look(session, store, conf, sample, only=only, progress=progress)
        found = _file_findings(store, conf, look.seen)
        at_rows, pictures = look_at_rows(look, pictured=pictured)
        found += [*at_rows, *second_findings(look), *third_findings(look)]
    except FAILURES as error:
        raise failed(error) from error
    return Audit(
        store=shown_url(url),
        summary=summary_of(store, look.seen),
        sample=sample,
        findings=_wanted(found, store, only),
        seen=look.seen,
        pictured=pictures,
    )


def first_look(
    session: SparkSession,
    store: Store,
    conf: BrokerConf,
    sample: Sample | None,
    *,
    only: Collection[str],
    progress: Progress,
) -> SecondLook:
    """Return what a pass over all bytes of *store* saw, for who looks a second time."""
    situation = situation_of(store, conf)
    ranges = ranges_wanted(store, only)
    progress(f"reading {_size_read(store, sample):,} bytes")
    surveyed = survey(
        session,
        store,
        situation,
        conf.delays,
        ranges=ranges,
        is_aside_wanted=is_aside_wanted(only),
    )
    seen = digest(surveyed, situation.min_offset)
    return SecondLook(
        session=session,
        store=store,
        seen=seen if sample is None else sample.seen_by_all(seen),
        ledger=surveyed.ledger,
        ranges=ranges,
        situation=situation,
        delays=conf.delays,
        progress=progress,
        only=only,
    )


def _wanted(
    found: Iterable[Finding], store: Store, only: Collection[str]
) -> tuple[Finding, ...]:
    """Return those of *found* that are asked for, in the order of a report."""
    wanted = [
        finding
        for finding in found
        if (not only or finding.invariant.id in only)
        and not is_about_earlier(store, finding)
    ]
    return tuple(in_order(wanted))


def _size_read(store: Store, sample: Sample | None) -> int:
    """Return how many bytes of *store* are read at first."""
    whole = sum(file.size for file in store.files)
    if sample is None:
        return whole
    return whole - store.commit_log_size + sample.size


def _log_size(store: Store, conf: BrokerConf) -> int | None:
    """Return the size of the commit log's files, before some are left out."""
    return conf.commit_log_file_size or files.commit_log_file_size(store)


def _file_findings(store: Store, conf: BrokerConf, seen: Digest) -> list[Finding]:
    return [
        *files.check_files(
            store,
            log_size=conf.commit_log_file_size,
            queue_size=conf.queue_file_size,
        ),
        *side_files.check_checkpoint(store, seen),
        *side_files.check_index_headers(store, seen),
        *side_files.check_configuration(store),
        *settings.check_settings(store, seen),
    ]

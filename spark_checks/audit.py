"""
An audit: every invariant asked of one store.

First the files' names and sizes, then one pass over all bytes, then, only where
that pass found two sides to disagree, the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.broker_conf import BrokerConf
from spark_checks.checking import run_checks
from spark_checks.digest import Digest, digest, survey
from spark_checks.findings import Finding, Invariant, Severity, in_order
from spark_checks.histograms import Pictured, histograms
from spark_checks.invariants import (
    extensions,
    files,
    flaws,
    index_items,
    queues,
    records,
    settings,
    side_files,
)
from spark_checks.sampling import Sample, Wish, judged, sample_of
from spark_checks.second_look import (
    SECOND_CHECKS,
    SecondLook,
    is_aside_wanted,
    ranges_wanted,
    second_findings,
)
from spark_checks.session import FAILURES, failed
from spark_checks.since import is_about_earlier, later_units, part_since
from spark_checks.sources.store_files import (
    Store,
    list_store,
    queue_of,
    read_whole,
    shown_url,
)
from spark_checks.summary import summary_of
from spark_checks.tables import (
    Situation,
    Tables,
    is_record,
    open_tables,
    shared_places,
)
from spark_checks.third_look import THIRD_CHECKS, third_findings
from spec.layout import LayoutError
from spec.wire import fastjson

Check = Callable[[Tables], DataFrame]
Progress = Callable[[str], None]

ROW_CHECKS: Mapping[Invariant, Check] = {
    records.NO_DAMAGE: records.damaged_regions,
    records.BODY_CHECKSUM: records.wrong_checksums,
    records.OWN_PLACE: records.wrong_places,
    records.FILE_WRITTEN_TO_ITS_END: records.unwritten_ends,
    records.QUEUE_OFFSETS_DENSE: records.broken_counts,
    flaws.PROPERTIES_PARSE: flaws.broken_properties,
    flaws.FLAGS_KNOWN: flaws.unknown_flags,
    flaws.TIMES_RISE: flaws.times_going_back,
    flaws.BODY_INFLATES: flaws.bodies_not_compressed,
    flaws.WHOLE_CHECKSUM: flaws.wrong_whole_checksums,
    queues.POINTS_AT_RECORD: queues.units_without_record,
    queues.SIZE: queues.wrong_sizes,
    queues.TAGS_CODE: queues.wrong_tags_codes,
    queues.PLACE: queues.misplaced_units,
    queues.EVERY_RECORD: queues.records_without_unit,
    queues.NO_HOLES: queues.holes,
    extensions.IS_THERE: extensions.addresses_of_nothing,
    extensions.OF_ITS_MESSAGE: extensions.extensions_of_others,
}
"""Which function finds the rows that break an invariant."""
OF_SHARED_QUEUES: Mapping[Invariant, Check] = {
    invariant: ROW_CHECKS[invariant]
    for invariant in (records.QUEUE_OFFSETS_DENSE, queues.PLACE, queues.EVERY_RECORD)
}
"""Those that must know which queues records of other topics name; most stores have no
such records, and none are looked for before one of these finds something."""
INDEX_CHECKS: Mapping[Invariant, Check] = {
    index_items.SLOT_NAMES_LAST: index_items.wrong_slots,
    index_items.ITEM_NAMES_PREVIOUS: index_items.wrong_chains,
    index_items.SECONDS_WITHIN: index_items.wrong_seconds,
    index_items.HASH_NOT_NEGATIVE: index_items.wrong_hashes,
    index_items.SECONDS_OF_RECORD: index_items.seconds_of_no_record,
}
"""The same for the rows of index files."""
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
SUSPECTS_MAX = 200
"""More queues than this are not picked out one by one: all are read again."""


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
    return whole - sum(file.size for file in store.commit_log) + sample.size


def _log_size(store: Store, conf: BrokerConf) -> int | None:
    """Return the size of the commit log's files, before some are left out."""
    return conf.commit_log_file_size or files.commit_log_file_size(store)


def _pictured(store: Store, tables: Tables, seen: Digest) -> Pictured:
    """Return what pictures of *store* are drawn from, after another pass."""
    return Pictured(
        files=tuple(
            (file.path, file.base or 0, file.size) for file in store.commit_log
        ),
        log_end=seen.log_end,
        histograms=histograms(tables.log),
        looked_at=store.parts,
    )


def situation_of(store: Store, conf: BrokerConf) -> Situation:
    """Return what the invariants must know of *store*."""
    size = conf.queue_file_size or files.queue_file_size(store)
    queue_files = [queue_of(file.path) for file in store.files]
    other = {
        path.split("/")[1]
        for path in store.directories
        if path.startswith("batchconsumequeue/")
    }
    configured = _configured_topics(store)
    with_queues = frozenset(queue[0] for queue in queue_files if queue)
    return Situation(
        min_offset=store.min_offset,
        parts=store.parts,
        left_open=store.was_left_open,
        queue_file_size=size or Situation().queue_file_size,
        known_topics=None if configured is None else configured | with_queues,
        other_topics=frozenset(other),
        delays_are_known=conf.delays_are_known,
    )


def look_at_rows(
    look: SecondLook, *, pictured: bool
) -> tuple[list[Finding], Pictured | None]:
    """Return what is wrong with rows, and what pictures are drawn from if wanted.

    No row is looked at if the first pass saw nothing odd.
    """
    store, seen = look.store, look.seen
    suspects = seen.suspects(look.situation)
    if not suspects and not seen.has_odd_rows and not pictured:
        return [], None
    tables = open_tables(look.session, store, look.situation, look.delays)
    found = [
        *row_findings(look, later_units(tables, store.begin), suspects),
        *index_findings(tables, seen, look.progress),
    ]
    return found, _pictured(store, tables, seen) if pictured else None


def row_findings(
    look: SecondLook, tables: Tables, suspects: Collection[tuple[str, int]]
) -> list[Finding]:
    """Return what is wrong with rows, after a closer look at those that may be."""
    seen = look.seen
    if not suspects and not seen.log_is_suspect:
        return []
    look.progress(f"comparing {len(suspects)} queues row by row")
    situation = replace(
        tables.situation, log_end=seen.log_end, last_file_base=seen.last_file_base
    )
    narrow = narrowed(replace(tables, situation=situation), suspects)
    try:
        found = run_checks(narrow, _worth_asking(seen, suspects))
        return _with_shared_queues(look, narrow, found)
    finally:
        narrow.log.unpersist()
        narrow.units.unpersist()


def _with_shared_queues(
    look: SecondLook, tables: Tables, found: list[Finding]
) -> list[Finding]:
    """Return what is *found* when records may stand in queues of other topics."""
    if not any(finding.invariant in OF_SHARED_QUEUES for finding in found):
        return found
    look.progress("reading which messages name other queues")
    shared = shared_places(look.session, look.store, look.delays).persist()
    try:
        if shared.isEmpty():
            return found
        kept = [one for one in found if one.invariant not in OF_SHARED_QUEUES]
        return kept + run_checks(replace(tables, shared=shared), OF_SHARED_QUEUES)
    finally:
        shared.unpersist()


def index_findings(tables: Tables, seen: Digest, progress: Progress) -> list[Finding]:
    """Return what is wrong with slots and items, after another look at all of them."""
    if not seen.flawed_items:
        return []
    progress(f"looking at {seen.flawed_items:,} odd items of the index")
    flawed = tables.index.where(F.col("flaws") != 0).persist()
    checks = dict(INDEX_CHECKS)
    try:
        if flawed.where(index_items.is_out_of_order()).isEmpty():
            # Else it takes another pass over the log.
            del checks[index_items.SECONDS_OF_RECORD]
        return run_checks(replace(tables, index=flawed), checks)
    finally:
        flawed.unpersist()


def _worth_asking(
    seen: Digest, suspects: Collection[tuple[str, int]]
) -> Mapping[Invariant, Check]:
    """Return the checks that may find something, after what the first pass saw."""
    counts = {
        records.NO_DAMAGE: seen.regions,
        records.BODY_CHECKSUM: seen.bad_checksums,
        records.OWN_PLACE: seen.bad_places,
        **dict.fromkeys(flaws.FLAWS, seen.flawed),
        records.FILE_WRITTEN_TO_ITS_END: int(seen.has_early_tail),
    }
    return {
        invariant: check
        for invariant, check in ROW_CHECKS.items()
        if counts.get(invariant, len(suspects)) > 0
    }


def narrowed(tables: Tables, suspects: Collection[tuple[str, int]]) -> Tables:
    """Return the rows of suspect queues, those they point at, and odd ones, kept."""
    suspected = _is_in(suspects)
    units = tables.units.where(suspected).persist()
    pointed = units.select(F.col("commit_log_offset").alias("offset")).distinct()
    odd = (
        ~is_record()
        | (F.col("body_crc") != F.col("computed_crc"))
        | (F.col("physical_offset") != F.col("offset"))
        | (F.col("flaws") != 0)
    )
    log = (
        tables.log.join(pointed.withColumn("pointed", F.lit(True)), "offset", "left")
        .where(odd | suspected | F.col("pointed"))
        .drop("pointed")
        .withColumn("suspect", suspected)
        .persist()
    )
    return replace(tables, log=log, units=units)


def _is_in(suspects: Collection[tuple[str, int]]) -> Column:
    """Whether a row is of one of the *suspects*."""
    if len(suspects) > SUSPECTS_MAX:
        return F.lit(True)
    by_topic: dict[str, list[int]] = {}
    for topic, queue_id in suspects:
        by_topic.setdefault(topic, []).append(queue_id)
    return reduce(
        Column.__or__,
        [
            (F.col("topic") == topic) & F.col("queue_id").isin(*ids)
            for topic, ids in by_topic.items()
        ],
        F.lit(False),
    )


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


def _configured_topics(store: Store) -> frozenset[str] | None:
    """Return the topics of the store's configuration; None if it cannot be read."""
    file = next((f for f in store.files if f.path == "config/topics.json"), None)
    if file is None:
        return None
    try:
        found = fastjson.loads(read_whole(store.url, file))
    except LayoutError:
        return None
    topics = found.get("topicConfigTable") if isinstance(found, dict) else None
    return frozenset(map(str, topics)) if isinstance(topics, dict) else None

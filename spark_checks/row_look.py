"""
The look at rows: where the pass over all bytes saw two sides disagree.

The rows of queues that may be wrong are compared one by one, with the records that they
point at, and the items of index files that are odd.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.checking import run_checks
from spark_checks.digest import Digest
from spark_checks.findings import Finding, Invariant
from spark_checks.histograms import Pictured, histograms
from spark_checks.invariants import extensions, flaws, index_items, queues, records
from spark_checks.second_look import SecondLook
from spark_checks.since import later_units
from spark_checks.sources.store_files import Store
from spark_checks.tables import Tables, is_record, open_tables, shared_places

Check = Callable[[Tables], DataFrame]

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
SUSPECTS_MAX = 200
"""More queues than this are not picked out one by one: all are read again."""
SENT_MAX = 1_000_000
"""Units of suspect queues of which each worker gets the offsets, some 40 MB."""


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
        *index_findings(look, tables),
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
    wanted = suspects if len(suspects) <= SUSPECTS_MAX else seen.units
    units = sum(seen.units[queue].count for queue in wanted if queue in seen.units)
    narrow = narrowed(
        replace(tables, situation=situation), suspects, is_small=units <= SENT_MAX
    )
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


def index_findings(look: SecondLook, tables: Tables) -> list[Finding]:
    """Return what is wrong with slots and items, after another look at all of them."""
    count = look.seen.flawed_items
    if not count:
        return []
    look.progress(f"looking at {count:,} odd items of the index")
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


def narrowed(
    tables: Tables, suspects: Collection[tuple[str, int]], *, is_small: bool
) -> Tables:
    """Return the rows of suspect queues, those they point at, and odd ones, kept.

    What a small number of units points at is sent to whoever reads the log; else the
    log's rows are sent to who has the units.
    """
    suspected = _is_in(suspects)
    units = tables.units.where(suspected).persist()
    pointed = units.select(F.col("commit_log_offset").alias("offset")).distinct()
    pointed = F.broadcast(pointed) if is_small else pointed
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

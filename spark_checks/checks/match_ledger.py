"""
Stages that match the ledger's tables, on the driver or by Spark tasks.

Rules of a stage need the rows of each key together. The driver runs all stages on the
whole ledger. If its rows are too many, Spark tasks survey the log again. Each task then
matches a part of the keys of each stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from columns.numbers.by_key import Table, joined
from columns.numbers.long_hashes import hash_of_longs
from spark_checks.checks.run_checks import SurveyedStore
from spark_checks.findings import LISTED_MAX
from spark_checks.invariants import delays, transactions
from spark_checks.situation import Situation
from spark_checks.survey.ledger import Ledger, ledger_of
from spark_checks.survey.survey import surveys_of
from spec.wire.message.topic_names import SCHEDULE_TOPIC

Rule = Callable[[Ledger, Situation], Mapping[str, Table]]
Listed = dict[tuple[str, int], tuple[int, Table]]
"""Number of an invariant's rows in a file, and the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Rules that run together, after those of earlier stages."""

    keys: Mapping[str, str]
    """Tables that the rules need, and the columns of their keys."""
    rules: tuple[Rule, ...]

    def apply(self, ledger: Ledger, situation: Situation) -> Ledger:
        """Return *ledger* with the tables of the rules instead of the needed ones."""
        rows = {n: some for n, some in ledger.rows.items() if n not in self.keys}
        made = (ledger_of(rule(ledger, situation)) for rule in self.rules)
        return reduce(Ledger.plus, made, Ledger(rows=rows))

    def split(self, ledger: Ledger, count: int) -> Iterator[tuple[int, Ledger]]:
        """Yield *count* parts of *ledger*, numbered; rows of one key are together."""
        for name in ledger.rows:
            table = ledger.table(name)
            key = table[self.keys.get(name, "offset")]
            parts = hash_of_longs(key).view(np.uint64) % np.uint64(count)
            for number in np.unique(parts).tolist():
                part = table.where(parts == number)
                yield number, Ledger(rows={name: [part]})


STAGES = (
    Stage(
        keys={"halves": "place", "ops": "place", "delayed": "offset", "due": "offset"},
        rules=(transactions.match_ops, delays.match_units),
    ),
    Stage(
        keys={
            "halves": "offset",
            "commits": "half_at",
            "delayed": "message",
            "delivered": "message",
        },
        rules=(transactions.match_commits, delays.match_deliveries),
    ),
    Stage(
        keys={"open": "key", "ends": "key", "expired": "key"},
        rules=(transactions.match_keys,),
    ),
    Stage(
        keys=dict.fromkeys(
            ("orphans", "oldest", "undecided", "level_deliveries"), "queue_id"
        ),
        rules=(transactions.match_queues, delays.match_levels),
    ),
)


def matched(ledger: Ledger, situation: Situation) -> Ledger:
    """Return *ledger* with a table of the rows that break each invariant."""
    return reduce(lambda found, stage: stage.apply(found, situation), STAGES, ledger)


def listed_rows(ledger: Ledger, names: Iterable[str], bases: Sequence[int]) -> Listed:
    """Return the first rows of the tables *names*, for each file of *bases*."""
    found: Listed = {}
    for name in names:
        table = ledger.table(name)
        files = np.searchsorted(bases, table["offset"], side="right") - 1
        for file in np.unique(files).tolist():
            rows = table.where(files == file)
            found[name, file] = len(rows["offset"]), _first(rows)
    return found


def _first(rows: Table) -> Table:
    """Return the rows with the lowest offsets, at most LISTED_MAX."""
    return rows.where(np.argsort(rows["offset"])[:LISTED_MAX])


def _both(one: Listed, other: Listed) -> Listed:
    """Return the first rows of both parts."""
    found = dict(one)
    for key, (count, rows) in other.items():
        known = found.get(key)
        if known is not None:
            count += known[0]
            rows = joined([known[1], rows])
        found[key] = count, _first(rows)
    return found


def listed_by_tasks(
    surveyed: SurveyedStore, names: Iterable[str], bases: Sequence[int]
) -> Listed:
    """Return the rows of :func:`listed_rows` of a store with too many rows."""
    store = surveyed.store
    queues = store.queue_files(topics=SCHEDULE_TOPIC)
    situation = replace(surveyed.situation, key_ranges=(), known_topics=None)
    read = replace(store, files=(*store.commit_log, *queues))
    surveys = surveys_of(surveyed.context, read, situation)
    count = surveys.getNumPartitions()
    ledgers = surveys.map(lambda survey: survey.ledger)
    for stage in STAGES:
        ledgers = (
            ledgers.flatMap(partial(stage.split, count=count))
            .reduceByKey(Ledger.plus, count)
            .values()
            .map(partial(stage.apply, situation=situation))
        )
    found = ledgers.map(lambda ledger: listed_rows(ledger, names, bases))
    return found.fold({}, _both)

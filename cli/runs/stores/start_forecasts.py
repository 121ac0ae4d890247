"""Forecasts of a broker's start on audited stores, for the advice of ``rmqc audit``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cli.pages.audit.start_forecast import StartForecast
from reference.core.recovery_forecast.forecast import forecast
from reference.core.recovery_forecast.outcome import MessageRange, Outcome, messages_in
from reference.core.recovery_forecast.store_view import ViewError, inferred_options
from reference.core.store.recovery.load import DirectoryEntry
from reference.core.store.recovery.rules import rules_of
from reference.core.store.types import StoreOptions
from reference.shell.storage.read_only_files import ReadOnlyStore
from spec.store.batch_queue import BATCH_QUEUE
from spec.store.config.config_files import TOPICS_FILE
from spec.store.epoch_file import EPOCH_FILE
from spec.store.file_names import COMMIT_LOG, CONFIG, CONSUME_QUEUE
from spec.wire.message.topic_names import ROCKSDB_HALF_TOPIC
from spec.wire.pop.pop_bodies import REVIVE_TOPIC_PREFIX

SIZE_MAX = 2 << 30
"""Bytes of a commit log above which no start is forecast: it takes too long."""
OLD, NEW, NEWEST = "4.6.0", "5.3.3", "5.5.0"
"""Releases that stand for 4.x, for 5.x up to 5.3, and for later ones.

Since 5.4 a start without queues builds them of the last log files only.
"""
ONLY_NEW = (
    *("config/consumerOrderInfo.json", "config/transactionMetrics"),
    *("timerwheel", "compaction", EPOCH_FILE),
)
"""Files that only 5.x writes."""


class StoreWithoutUnits(ReadOnlyStore):
    """A store without the files of its queues."""

    def entries(self, directory: str) -> list[DirectoryEntry]:
        """Return the entries of *directory*; an empty list if it is hidden."""
        return [] if _is_of_units(directory) else super().entries(directory)

    def text(self, path: str) -> str | None:
        """Return the text of the file *path*, None without one or if it is hidden."""
        return None if _is_of_units(path) else super().text(path)

    def exists(self, path: str) -> bool:
        """Return whether *path* exists and is not hidden."""
        return not _is_of_units(path) and super().exists(path)


def _is_of_units(path: str) -> bool:
    return path.partition("/")[0] in (CONSUME_QUEUE, BATCH_QUEUE)


def likely_release(store: Path) -> str:
    """Return 4.6.0, 5.3.3 or 5.5.0, by the files of the local directory *store*.

    Each broker creates the system topics of its release at its first start (5.0.0
    org.apache.rocketmq.broker.topic.TopicConfigManager).
    """
    view = ReadOnlyStore(store)
    topics = view.text(f"{CONFIG}/{TOPICS_FILE}") or ""
    if ROCKSDB_HALF_TOPIC in topics or view.exists("rocksdbstore"):
        return NEWEST
    is_new = REVIVE_TOPIC_PREFIX in topics or any(map(view.exists, ONLY_NEW))
    return NEW if is_new else OLD


def start_forecast(
    store: str,
    release: str | None,
    options: StoreOptions | None = None,
    *,
    on_part: Callable[[float], None] = lambda _: None,
) -> StartForecast | None:
    """Return the effect of a start of *release* on the local directory *store*.

    Without a release, *likely_release* is taken. Return None for a store that is
    remote, large or not readable. *on_part* is called with the part that is done, from
    0 to 1.
    """
    done = 0

    def count(size: int) -> None:
        nonlocal done
        done += size
        on_part(min(done / max(2 * log_size, 1), 1))

    view = ReadOnlyStore(Path(store), count)
    try:
        log_size = _log_size(view)
        if not Path(store).is_dir() or log_size > SIZE_MAX:
            return None
        rules = rules_of(release or likely_release(Path(store)))
        options = options or inferred_options(view)
        found = forecast(view, rules, options)
        without = StoreWithoutUnits(Path(store), count)
        rebuilt = forecast(without, rules, options)
    except (ViewError, ValueError):
        return None
    return replace(
        _in_short(found),
        obstacle=_obstacle(Path(store), found),
        lacks_files=found.log.lacks_files,
        cut_file=_cut_file(found),
        foreign_files=tuple(map(found.log.path, found.log.foreign_files)),
        rebuilt=_in_short(rebuilt),
    )


def _obstacle(store: Path, outcome: Outcome) -> str | None:
    """Return the path of what a start needs to be away, or None.

    It is a directory in the place of a file. Or it is an empty file of the log or of a
    queue, as a broker leaves it that is killed amid the creation. A directory with
    files of a log or queue stays: they are the messages.
    """
    if outcome.refusal is None:
        return None
    path = store / outcome.refusal.file
    if not path.exists():
        return None
    if path.is_dir():
        is_away = not any(one.name.isdecimal() for one in path.iterdir())
    else:
        is_empty = path.name.isdecimal() and path.stat().st_size == 0
        is_away = is_empty or not path.is_file()
    return _shown(outcome.refusal.file) if is_away else None


def _cut_file(outcome: Outcome) -> str | None:
    """Return the path of the last log file if a closed store lacks the end of it."""
    log = outcome.log
    is_cut = log.lacks_end and not outcome.after_crash
    return log.path(log.start_offsets[-1]) if is_cut else None


def _log_size(view: ReadOnlyStore) -> int:
    return sum(one.size or 0 for one in view.entries(COMMIT_LOG))


def _in_short(outcome: Outcome) -> StartForecast:
    refusal, later = outcome.refusal, outcome.later_start
    return StartForecast(
        release=outcome.release,
        refusal=None if refusal is None else _shown(refusal.reason),
        lost=_by_topic(outcome.lost),
        unreadable=_by_topic(outcome.unreadable),
        invisible=messages_in(outcome.invisible),
        lost_later=0 if later is None else later.lost,
        config_states=tuple(
            (one.file, one.report) for one in outcome.config if one.source != "file"
        ),
        deleted_files=tuple(outcome.log.deleted_files),
    )


def _shown(text: str) -> str:
    """Return *text* with escapes for bytes of names that are not UTF-8."""
    return os.fsencode(text).decode(errors="backslashreplace")


def _by_topic(ranges: Sequence[MessageRange]) -> tuple[tuple[str, int], ...]:
    """Return topics and their messages in *ranges*, the largest number first."""
    found: Counter[str] = Counter()
    for one in ranges:
        found[one.topic] += one.count
    return tuple(found.most_common())

"""
A start, followed step by step: configuration, lock, loading, recovery, dispatch.

The steps are those of BrokerController#initialize and DefaultMessageStore#load and
#start, in their order. The first that fails ends the start.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.start.config import (
    delay_offsets_outside,
    offsets_outside,
    read_configuration,
)
from reference.core.start.index_state import IndexFileError, IndexState
from reference.core.start.log_state import LogState
from reference.core.start.outcome import Note, Outcome, QueueOutcome, Refusal
from reference.core.start.queues_state import QueuesState, StrayQueueFileError
from reference.core.start.reput import dispatch
from reference.core.start.survey import PROGRESS_EACH, Survey
from reference.core.start.timer import timer_refusal
from reference.core.start.view import StoreView, ViewError
from reference.core.store.api import StoreOptions
from reference.core.store.config_files import CONSUMER_OFFSETS, DELAY_OFFSETS
from reference.core.store.recovery_loading import Entry, loading, stray_says
from reference.core.store.recovery_log import (
    dispatch_begin,
    files_behind,
    first_after_a_crash,
    first_after_a_stop,
)
from reference.core.store.recovery_rules import Dispatch, RecoveryRules, Stray
from reference.core.store.recovery_scan import ArrayTooLarge, Sighted, scan_log
from reference.core.store.recovery_units import EmptyLastFileError
from spec.store.checkpoint import Checkpoint, decode_checkpoint
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import ABORT, CHECKPOINT, COMMIT_LOG, LOCK


class RefusedError(Exception):
    """The start ends here."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.says)
        self.refusal = refusal


def predict(view: StoreView, rules: RecoveryRules, options: StoreOptions) -> Outcome:
    """Return what the start of a broker would do to the store in *view*."""
    start = Start(view, rules, options)
    try:
        start.run()
    except RefusedError as error:
        start.outcome.refusal = error.refusal
    start.conclude()
    return start.outcome


class Start:
    """One start, as far as it has come."""

    def __init__(
        self, view: StoreView, rules: RecoveryRules, options: StoreOptions
    ) -> None:
        self.outcome = Outcome(release=rules.release, after_crash=view.exists(ABORT))
        self._view = view
        self._rules = rules
        self._options = options
        self._config = read_configuration(view)
        self._log = LogState([], options.commit_log_file_size, self._open_log, rules)
        queue_size = -(-options.consume_queue_file_size // UNIT_SIZE) * UNIT_SIZE
        self._queues = QueuesState(view, queue_size, rules)
        self._index = IndexState(view, options.index_item_count, rules)
        self._checkpoint = Checkpoint()
        self._has_recovered = False

    def run(self) -> None:
        """Go through all steps; RefusedError where the broker ends."""
        self.outcome.config = self._config.readings
        if self._rules.assumed:
            self._note("REC-BEGIN-007", self._rules.assumed)
        if self._config.refusal is not None:
            raise RefusedError(self._config.refusal)
        self._load_log()
        self._load_queues()
        self._load_checkpoint()
        self._load_index()
        self._recover()
        self._load_timer()
        self._check_lock()
        self._dispatch()

    def conclude(self) -> None:
        """Compare what there was with what there is now."""
        outcome, log = self.outcome, self._log
        outcome.log.start = max(log.start, 0)
        outcome.index_files = self._index.files
        outcome.index_deleted = self._index.deleted
        outcome.log.end_on_disk = log.written_end(self._view.looked_at)
        if not self._has_recovered:
            outcome.log.end = outcome.log.next_place = outcome.log.end_on_disk
            return
        outcome.log.next_place = log.next_place
        outcome.queues = [
            QueueOutcome(
                topic=queue.topic,
                queue_id=queue.queue_id,
                min_offset=queue.min_offset,
                max_offset=queue.max_offset,
                max_before=queue.end_before // UNIT_SIZE,
                cut=(queue.end_before - queue.lowest_end) // UNIT_SIZE,
                redispatched=queue.added,
            )
            for queue in sorted(self._queues, key=lambda q: (q.topic, q.queue_id))
        ]
        Survey(outcome, log, self._queues, self._view).run()
        values = self._config.values
        outcome.offsets = offsets_outside(
            values.get(CONSUMER_OFFSETS, {}), self._queues
        )
        outside = delay_offsets_outside(values.get(DELAY_OFFSETS, {}), self._queues)
        if not self._rules.corrects_delay_offsets:
            outcome.delay_offsets = outside
            return
        for one in outside:
            bound = one.max_offset if one.offset > one.max_offset else one.min_offset
            says = f"the offset of delay level {one.owner} is set from {one.offset}"
            self._note("REC-START-008", f"{says} to {bound}")

    def _open_log(self, name: str) -> memoryview:
        return self._view.data(f"{COMMIT_LOG}/{name}")

    def _load_log(self) -> None:
        size = self._options.commit_log_file_size
        found = loading(self._view.entries(COMMIT_LOG), size, self._rules)
        self._log = LogState(found.names, size, self._open_log, self._rules)
        self.outcome.log.deleted_files += [f"{COMMIT_LOG}/{n}" for n in found.deleted]
        if found.stray is not None:
            raise RefusedError(self._stray(COMMIT_LOG, found.stray, size))
        if found.ignored:
            says = f"the files from {found.ignored[0]} on are not looked at"
            self._note("REC-START-004", f"commit log: {says}")

    def _load_queues(self) -> None:
        try:
            self._queues.load()
        except StrayQueueFileError as error:
            size = self._queues.file_size
            refusal = self._stray(error.directory, error.entry, size)
            raise RefusedError(refusal) from None

    def _stray(self, directory: str, stray: Entry, size: int) -> Refusal:
        clause = "REC-BEGIN-004"
        if stray.size == size:
            clause = "REC-BEGIN-008"
        elif self._rules.stray is Stray.EMPTY_LAST_GOES:
            clause = "REC-BEGIN-005"
        says = stray_says(directory, stray, size)
        return Refusal(clause, f"{directory}/{stray.name}", says)

    def _load_checkpoint(self) -> None:
        if not self._view.exists(CHECKPOINT):
            self._note("REC-CHECKPOINT-003", "there is no checkpoint: its times are 0")
            return
        try:
            data = bytes(self._view.data(CHECKPOINT)[:64])
        except ViewError as error:
            refusal = Refusal("REC-CHECKPOINT-003", CHECKPOINT, str(error))
            raise RefusedError(refusal) from None
        self._checkpoint = decode_checkpoint(data.ljust(64, b"\0"))

    def _load_timer(self) -> None:
        refusal = None
        if self._rules.has_timer:
            refusal = timer_refusal(self._view, self._rules)
        if refusal is not None:
            raise RefusedError(refusal)

    def _load_index(self) -> None:
        outcome, index_ms = self.outcome, self._checkpoint.index_ms
        try:
            self._index.load(after_crash=outcome.after_crash, index_ms=index_ms)
        except IndexFileError as error:
            if self._rules.needs_index_files:
                refusal = Refusal("REC-START-009", error.path, str(error))
                raise RefusedError(refusal) from None

    def _recover(self) -> None:
        for queue in self._queues:
            queue.recover()
        reach, log, crashed = self._queues.reach, self._log, self.outcome.after_crash
        if not log.bases:
            self._has_recovered = True
            log.end = self.outcome.log.end = 0
            if crashed or self._rules.queues_go_with_log:
                self._destroy_queues()
            return
        first = self._first_file(reach)
        self.outcome.log.recovery_begins = log.bases[first]
        end = scan_log(
            log.bases,
            first,
            log.open,
            self._rules,
            check_crc=self._options.check_crc_on_recover,
            take=self._taker(reach),
        )
        if isinstance(end.stopped, ArrayTooLarge):
            path = f"{COMMIT_LOG}/{log.name(log.bases[end.last_file])}"
            says = f"{path}: a record says it has {end.stopped.size} bytes"
            raise RefusedError(Refusal("REC-START-002", path, says))
        self._has_recovered = True
        log.end = self.outcome.log.end = end.end
        self.outcome.log.deleted_files += [
            f"{COMMIT_LOG}/{log.name(base)}"
            for base in files_behind(log.bases, log.file_size, end.end)
        ]
        if reach >= end.end:
            for queue in self._queues:
                queue.cut(end.end)
        self._correct_begins()

    def _first_file(self, reach: int) -> int:
        log = self._log
        if not self.outcome.after_crash:
            return first_after_a_stop(log.bases, reach, self._rules)
        checkpoint = self._checkpoint
        trusted_ms = checkpoint.safe_ms
        if self._options.index_safe and self._options.index_enabled:
            trusted_ms = checkpoint.safe_with_index_ms
        return first_after_a_crash(
            len(log.bases), log.first_record, trusted_ms, self._rules
        )

    def _taker(self, reach: int) -> Callable[[int, Sighted], None]:
        """Return what the scan does with each record."""
        in_the_scan = self._rules.dispatch is Dispatch.IN_THE_SCAN
        takes_all = self.outcome.after_crash

        waiting = 0

        def take(place: int, record: Sighted) -> None:
            nonlocal waiting
            waiting += record.size
            if waiting >= PROGRESS_EACH:
                self._view.looked_at(waiting)
                waiting = 0
            if takes_all or (in_the_scan and record.physical_offset > reach):
                self._take(record)
            elif in_the_scan and (place, record.is_consumable) == (reach, True):
                says = f"the record at {reach} of the log is not dispatched"
                self._note("REC-START-006", says)

        return take

    def _take(self, record: Sighted) -> None:
        self._queues.take(record)
        if self._options.index_enabled:
            self._index.take(record)

    def _check_lock(self) -> None:
        if self._view.is_locked():
            says = "a broker is running on this store"
            raise RefusedError(Refusal("STORE-NAME-006", LOCK, says))

    def _dispatch(self) -> None:
        log, rules = self._log, self._rules
        ends = [queue.end.physical for queue in self._queues]
        begin = dispatch_begin(ends, log.start, log.end, rules)
        if begin > log.end:
            says = f"a queue points at {begin}, behind the log's end {log.end}:"
            says += " new messages get no units until the log is that long"
            self._note("REC-START-005", says)
        if rules.dispatch is not Dispatch.FROM_QUEUES:
            return
        hole = dispatch(log, begin, self._take, rules)
        if hole is not None:
            says = f"it waits for ever: dispatch cannot go on at {hole} of the log"
            raise RefusedError(Refusal("REC-START-001", COMMIT_LOG, says))
        self._correct_begins()

    def _correct_begins(self) -> None:
        for queue in self._queues:
            try:
                queue.correct_begin(self._log.start)
            except EmptyLastFileError as error:
                path = f"consumequeue/{queue.topic}/{queue.queue_id}"
                refusal = Refusal("REC-START-003", path, f"{path}: {error}")
                raise RefusedError(refusal) from None
            if queue.made_up:
                says = f"{queue.topic} queue {queue.queue_id} ends with a unit that"
                self._note("REC-QUEUE-004", f"{says} was never written")

    def _destroy_queues(self) -> None:
        for queue in self._queues:
            queue.destroy()

    def _note(self, clause: str, says: str) -> None:
        note = Note(clause, says)
        if note not in self.outcome.notes:
            self.outcome.notes.append(note)

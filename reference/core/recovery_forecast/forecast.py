"""
The steps of a start: configuration, lock, load, recovery, dispatch.

The steps are those of BrokerController#initialize and DefaultMessageStore#load and
#start, in their order. The first that fails ends the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from reference.core.recovery_forecast.config_state import load_configs, offsets_outside
from reference.core.recovery_forecast.index_state import IndexState
from reference.core.recovery_forecast.log_state import LogState, dispatch
from reference.core.recovery_forecast.message_loss import MessageLossSurvey
from reference.core.recovery_forecast.outcome import LaterStart, Outcome
from reference.core.recovery_forecast.queues_state import QueuesState
from reference.core.recovery_forecast.store_view import (
    NotAFileError,
    StartRefusedError,
    StoreView,
    ViewError,
    load_files,
)
from reference.core.store.commitlog.record_reader import ArrayTooLarge, ScannedRecord
from reference.core.store.recovery.queue_end import EmptyLastFileError
from reference.core.store.recovery.rules import Dispatch, RecoveryRules
from reference.core.store.recovery.scan import (
    dispatch_start,
    files_behind_end,
    scan_log,
)
from reference.core.store.types import StoreOptions
from spec.store.batch_queue import queue_type
from spec.store.checkpoint import FILE_SIZE, Checkpoint, decode_checkpoint
from spec.store.config.config_files import (
    BACKUP_SUFFIX,
    CONSUMER_OFFSETS_FILE,
    TOPICS_FILE,
)
from spec.store.epoch_file import (
    EPOCH_FILE,
    SIZE_MAX,
    EpochFileError,
    EpochNumberError,
    decode_epochs,
)
from spec.store.file_names import (
    ABORT,
    ACCESS_DATABASES,
    CHECKPOINT,
    COMMIT_LOG,
    CONFIG,
    CONFIG_DATABASE,
    CONSUME_QUEUE,
    LOCK,
    ROCKSDB_CURRENT,
    ROCKSDB_QUEUES,
)
from spec.store.rocksdb_files import DATABASE_OPENS, database_defect, is_database
from spec.store.timer.timer_log import TIMER_LOG
from spec.store.timer.timer_wheel import TIMER_WHEEL, WHEEL_SIZE
from spec.wire.bodies.json_object import JsonObject


def forecast(view: StoreView, rules: RecoveryRules, options: StoreOptions) -> Outcome:
    """Forecast the result of a broker's start on the store in *view*."""
    start = Start(view, rules, options)
    try:
        start.run()
    except StartRefusedError as error:
        start.outcome.refusal = error
    start.conclude()
    return start.outcome


class Start:
    """The state of one start."""

    def __init__(
        self, view: StoreView, rules: RecoveryRules, options: StoreOptions
    ) -> None:
        self._view = view
        self._rules = rules
        self._options = options
        self._config: Mapping[str, JsonObject] = {}
        self._log = LogState(view, options.commit_log_file_size, rules)
        self._queues = QueuesState(view, options, rules)
        self._index = IndexState(view, options.index_item_count, rules)
        self.outcome = Outcome(
            release=rules.release,
            after_crash=view.exists(ABORT),
            log=self._log,
            index=self._index,
        )

    def run(self) -> None:
        """Run all steps. Raise StartRefusedError if the broker refuses to start."""
        outcome = self.outcome
        self._check_databases()
        self._config = load_configs(self._view, self._rules, outcome)
        self._log.load()
        if self._log.ignored_files:
            ignored = f"the files from {self._log.ignored_files[0]} on are ignored"
            outcome.note("REC-LOAD-006", f"commit log: {ignored}")
        self._queues.load()
        self._check_queue_types()
        checkpoint = load_checkpoint(self._view, outcome)
        self._index.load(after_crash=outcome.after_crash, index_ms=checkpoint.index_ms)
        self._recover(checkpoint)
        load_timer(self._view, self._rules, self._options)
        load_epochs(self._view, self._rules)
        if self._view.is_locked():
            reason = "a broker is running on this store"
            raise StartRefusedError("STORE-NAME-006", LOCK, reason)
        self._dispatch()

    def _check_databases(self) -> None:
        """Raise StartRefusedError for a database that cannot be opened."""
        if not DATABASE_OPENS.applies_to(self._rules.release):
            return
        configs = [one for one in self._view.entries(CONFIG) if one.size is None]
        places = {f"{CONFIG}/{one.name}" for one in configs}.union(ROCKSDB_QUEUES)
        for directory in sorted(places.difference(ACCESS_DATABASES)):
            names = {one.name for one in self._view.entries(directory)}
            if is_database(names):
                path = f"{directory}/{ROCKSDB_CURRENT}"
                found = database_defect(names, self._view.text(path))
                if found is not None:
                    reason = f"{path} has {found}"
                    raise StartRefusedError("STORE-ROCKSDB-001", path, reason)

    def _check_queue_types(self) -> None:
        """Raise StartRefusedError for a queue of another type than that of its topic.

        5.3.3 org.apache.rocketmq.store.queue.ConsumeQueueStore#queueTypeShouldBe.
        """
        if not self._rules.has_timer or self._may_have_database:
            return
        for topic, type_name in self._queues.types():
            found = queue_type(self._topics.get(topic))
            if found != type_name:
                path = f"{CONFIG}/{TOPICS_FILE}"
                reason = f"{path} has the type {found} for {topic}, whose queues are"
                reason += f" {type_name}"
                raise StartRefusedError("STORE-BATCHQUEUE-008", path, reason)

    @property
    def _may_have_database(self) -> bool:
        """Whether a database in a directory of config may have the topics instead."""
        return any(
            one.size is None and f"{CONFIG}/{one.name}" not in ACCESS_DATABASES
            for one in self._view.entries(CONFIG)
        )

    @property
    def _topics(self) -> Mapping[str, object]:
        """The table of topics.json; empty if it was not read."""
        found = self._config.get(TOPICS_FILE, {}).get("topicConfigTable")
        return found if isinstance(found, Mapping) else {}

    def conclude(self) -> None:
        """Complete the outcome: compare the store before and after the start."""
        outcome, log = self.outcome, self._log
        self._conclude_index()
        if not log.is_recovered:
            log.end = log.end_on_disk
            return
        if self._queues.obstacle is not None:
            text = f"{self._queues.obstacle} is no directory: dispatch stops there, and"
            outcome.note("STORE-DISPATCH-002", f"{text} the broker refuses sends")
        if self._queues.batch_topics:
            text = "units of batch consume queues are not compared with the log:"
            outcome.note("STORE-BATCHQUEUE-001", f"{text} `rmqc audit` does so")
        outcome.queues = sorted(self._queues, key=lambda queue: queue.name)
        self._conclude_config()
        has_units = any(queue.max_offset for queue in outcome.queues)
        if has_units and log.start_offsets and log.end_on_disk == log.start:
            text = (
                "the commit log has no message: those of the queues are gone with its"
            )
            outcome.note("STORE-CLEAN-001", f"{text} earlier files, expired or not")
        outcome.offsets, outside = offsets_outside(self._config, self._queues)
        has_database = self._view.exists(f"{CONFIG_DATABASE}/{ROCKSDB_CURRENT}")
        topics = None if has_database else self._topics
        MessageLossSurvey(outcome, self._queues, self._view, topics).run()
        if outcome.after_crash and outcome.refusal is None:
            outcome.later_start = self._worse_later_start()
        if not self._rules.corrects_delay_offsets:
            outcome.delay_offsets = outside
            return
        for one in outside:
            bound = one.max_offset if one.offset > one.max_offset else one.min_offset
            change = f"the offset of delay level {one.owner} is set from {one.offset}"
            outcome.note("DELAY-START-003", f"{change} to {bound}")

    def _conclude_config(self) -> None:
        """Report files as lost that a store with messages must have had.

        Each creation of a topic writes topics.json, and each stop the consumed offsets.
        """
        stopped = () if self.outcome.after_crash else (CONSUMER_OFFSETS_FILE,)
        expected = TOPICS_FILE, *stopped
        has_messages = any(queue.max_offset for queue in self.outcome.queues)
        for number, one in enumerate(self.outcome.config):
            is_lost = one.source == "nothing" and one.name in expected
            if is_lost and has_messages and not self._may_have_database:
                self.outcome.config[number] = one._replace(is_expected=True)

    def _conclude_index(self) -> None:
        index, begin = self._index, self._log.recovery_begins
        if begin is not None and self._options.index_enabled:
            index.rewritten = [
                path for path, offset in index.deleted.items() if offset >= begin
            ]
        for path in index.without_header:
            text = f"{path} has no header: lookups by key do not find its messages"
            self.outcome.note("INDEX-FILE-001", text)

    def _recover(self, checkpoint: Checkpoint) -> None:
        queues, log = self._queues, self._log
        for queue in queues:
            queue.recover()
        max_physical_offset = queues.max_physical_offset
        if not log.start_offsets:
            log.is_recovered = True
            if self.outcome.after_crash or self._rules.queues_go_with_log:
                for queue in queues:
                    queue.destroy()
            return
        scan = scan_log(
            log.start_offsets,
            log.open,
            checkpoint,
            self._options,
            self._rules,
            queue_end=max_physical_offset,
            is_clean=not self.outcome.after_crash,
            on_record=partial(self._on_record, max_physical_offset),
        )
        log.recovery_begins = log.start_offsets[scan.first_file]
        if isinstance(scan.stopped_by, ArrayTooLarge):
            path = log.path(log.start_offsets[scan.last_file])
            reason = f"{path}: a record declares {scan.stopped_by.size} bytes"
            raise StartRefusedError("REC-SCAN-013", path, reason)
        log.is_recovered, log.end = True, scan.physical_end
        log.deleted_files += map(log.path, files_behind_end(log.start_offsets, log.end))
        if max_physical_offset >= log.end:
            for queue in queues:
                queue.truncate(log.end)
        self._correct_begins()

    def _on_record(
        self, max_physical_offset: int, place: int, record: ScannedRecord
    ) -> None:
        """Dispatch a record of the scan, after a stop only one that no queue has."""
        self._view.count_read(record.size)
        in_the_scan = self._rules.dispatch is Dispatch.IN_THE_SCAN
        is_new = in_the_scan and record.physical_offset > max_physical_offset
        if self.outcome.after_crash or is_new:
            self._take(record)
        elif in_the_scan and place == max_physical_offset and record.is_consumable:
            text = f"the record at {place} of the log is not dispatched"
            self.outcome.note("REC-DISPATCH-009", text)

    def _take(self, record: ScannedRecord) -> None:
        self._queues.take(record)
        if self._options.index_enabled:
            self._index.take(record)

    def _dispatch(self) -> None:
        log, rules = self._log, self._rules
        ends = [queue.end.max_physical_offset for queue in self._queues]
        begin = dispatch_start(ends, log.start, log.end, rules)
        if begin > log.end:
            text = f"a queue points at {begin}, behind the log's end {log.end}:"
            text += " new messages get no units until the log is that long"
            self.outcome.note("REC-QUEUE-009", text)
        if rules.dispatch is not Dispatch.FROM_QUEUES:
            return
        hole = dispatch(log, begin, self._take, rules)
        if hole is not None:
            reason = f"it waits for ever: dispatch cannot go on at {hole} of the log"
            raise StartRefusedError("REC-DISPATCH-008", COMMIT_LOG, reason)
        self._correct_begins()

    def _correct_begins(self) -> None:
        for queue in self._queues:
            topic, queue_id = queue.name
            try:
                queue.correct_begin(self._log.start)
            except EmptyLastFileError as error:
                path = f"{CONSUME_QUEUE}/{topic}/{queue_id}"
                reason = f"{path}: {error}"
                raise StartRefusedError("REC-QUEUE-008", path, reason) from None
            if queue.ends_with_unwritten_unit:
                text = (
                    f"{topic} queue {queue_id} ends with a unit that was never written"
                )
                self.outcome.note("REC-QUEUE-004", text)

    def _worse_later_start(self) -> LaterStart | None:
        """Return the start after this one and an orderly stop, None if it is not worse.

        A start after a crash begins at the checkpoint's times, and passes over damage
        in earlier files. A start after an orderly stop reads the last files whole, and
        ends the log at that damage.
        """
        log = self._log
        deleted = files_behind_end(log.start_offsets, log.end)
        start_offsets = [one for one in log.start_offsets if one not in deleted]
        if not start_offsets:
            return None
        scan = scan_log(
            start_offsets,
            log.open,
            Checkpoint(),
            self._options,
            self._rules,
            queue_end=self._queues.max_physical_offset,
            is_clean=True,
            on_record=lambda _, record: self._view.count_read(record.size),
        )
        end = scan.physical_end
        lost = sum(self._queues.has(record) for _, record in log.records(end, log.end))
        if end >= log.end or not lost:
            return None
        return LaterStart(start_offsets[scan.first_file], log_end=end, lost=lost)


def load_checkpoint(view: StoreView, outcome: Outcome) -> Checkpoint:
    """Return the times of the checkpoint; raise StartRefusedError if it is no file."""
    if not view.exists(CHECKPOINT):
        outcome.note("REC-CHECKPOINT-003", "there is no checkpoint: its times are 0")
        return Checkpoint()
    try:
        data = bytes(view.data(CHECKPOINT)[:FILE_SIZE])
    except NotAFileError as error:
        clause = "REC-CHECKPOINT-003"
        raise StartRefusedError(clause, CHECKPOINT, str(error)) from None
    return decode_checkpoint(data.ljust(FILE_SIZE, b"\0"))


def load_timer(view: StoreView, rules: RecoveryRules, options: StoreOptions) -> None:
    """Load the files of timer messages (since 5.0), which follows recovery.

    The wheel has one size in all releases. Raise StartRefusedError for a wrong size of
    either file (5.3.3 org.apache.rocketmq.broker.BrokerController#recoverAndInitService
    and #initializeMessageStore).
    """
    if not rules.has_timer or not options.timer_enabled:
        return
    if view.exists(TIMER_WHEEL):
        try:
            size = len(view.data(TIMER_WHEEL))
        except ViewError as error:
            clause = "REC-LOAD-008"
            raise StartRefusedError(clause, TIMER_WHEEL, str(error)) from None
        if size not in {0, WHEEL_SIZE}:
            reason = f"{TIMER_WHEEL} has {size} bytes, not {WHEEL_SIZE}"
            raise StartRefusedError("REC-LOAD-008", TIMER_WHEEL, reason)
    load_files(view, TIMER_LOG, options.timer_log_file_size, rules, "REC-LOAD-008")


def load_epochs(view: StoreView, rules: RecoveryRules) -> None:
    """Load the epochs of a broker in controller mode (since 5.0), after the timer.

    Without the file a broker is taken to be in another mode. Raise StartRefusedError
    where a number has other characters (5.3.3 EpochFileCache#initCacheFromFile).
    """
    if not rules.has_timer or not view.exists(EPOCH_FILE):
        return
    for path in filter(view.exists, (EPOCH_FILE, EPOCH_FILE + BACKUP_SUFFIX)):
        try:
            if decode_epochs(bytes(view.data(path)[:SIZE_MAX])):
                return
        except EpochNumberError as error:
            reason = (
                f"{path} has {error.reason}, which ends a broker in controller mode"
            )
            raise StartRefusedError("STORE-EPOCHFILE-003", path, reason) from None
        except (EpochFileError, ViewError):
            continue

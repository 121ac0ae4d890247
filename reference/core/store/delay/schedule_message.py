"""
Delayed messages wait in the schedule topic for the duration of their delay level.

The store appends a delayed message to the schedule topic, with its real topic and queue
in two properties. When it is due, the store appends it to these. The offset of each
level is in ``config/delayOffset.json``. After a crash some messages are delivered
twice, but none is lost.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.config_files import ConfigFiles
from reference.core.store.consumequeue.consume_queue import ConsumeQueue
from reference.core.store.consumequeue.table import ConsumeQueueTable, is_directory_name
from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.layouts import unit_codec
from reference.core.store.types import (
    NewMessage,
    PutResult,
    PutStatus,
    message_of_record,
)
from reference.core.unexpected import error_text
from spec.integers import parse_java_int
from spec.store.config.config_files import DELAY_OFFSETS_FILE
from spec.store.message_record import decode_record
from spec.wire.bodies.json_object import JsonObject, as_integer, object_in
from spec.wire.message.properties import Property, decode_properties, encode_properties
from spec.wire.message.topic_names import SCHEDULE_TOPIC, TOPIC_LENGTH_MAX

Append = Callable[[NewMessage], PutResult]
LogError = Callable[[str], None]
"""Writes one line to the operator's log."""


class UndeliverableError(ValueError):
    """Delayed message whose properties name no topic and queue."""


_MALFORMED = ValueError, OverflowError, struct.error
"""Errors of a message itself, which each attempt would raise."""


def delay_message(message: NewMessage, level: int) -> NewMessage:
    """Return *message* with the schedule topic and the queue of *level*.

    4.6.0 org.apache.rocketmq.store.CommitLog#putMessage.
    """
    properties = decode_properties(message.properties)
    # [STORE-PUT-010]
    properties[Property.DELAY] = str(level)
    properties[Property.REAL_TOPIC] = message.topic
    properties[Property.REAL_QID] = str(message.queue_id)
    return replace(
        message,
        topic=SCHEDULE_TOPIC,
        queue_id=level - 1,  # [DELAY-LEVEL-005]
        properties=encode_properties(properties),
    )


def restore_message(record: memoryview) -> NewMessage:
    """Return the message in a *record* of the schedule topic, with its real topic.

    Its properties still have DELAY, REAL_TOPIC and REAL_QID, as in 4.6.0. Raises
    UndeliverableError if they name no topic and queue.
    """
    delayed = decode_record(record, check_crc=False)
    properties = decode_properties(delayed.properties)
    topic = properties.get(Property.REAL_TOPIC, "")
    queue_id = parse_java_int(properties.get(Property.REAL_QID))
    if len(topic) > TOPIC_LENGTH_MAX or not is_directory_name(topic):
        raise UndeliverableError(f"REAL_TOPIC is {topic[:40]!r}")
    if queue_id is None or queue_id < 0:
        raise UndeliverableError(f"REAL_QID is {properties.get(Property.REAL_QID)!r}")
    # [DELAY-SEND-002] [DELAY-SEND-003] [DELAY-SEND-004]
    return message_of_record(delayed, topic, queue_id)


class ScheduleMessageService:
    """Delivers the delayed messages of a store, level by level."""

    def __init__(
        self,
        log: CommitLog,
        queues: ConsumeQueueTable,
        levels: DelayLevels,
        config: ConfigFiles,
    ) -> None:
        self.offsets: dict[int, int] = {}
        """By level, the queue offset of the first message that was not delivered."""
        self._log = log
        self._queues = queues
        self._levels = levels
        self._config = config

    def load(self) -> None:
        """Read the offsets of the levels."""
        self.offsets = self._config.load(DELAY_OFFSETS_FILE, _offsets_in) or {}

    def persist(self) -> None:
        """Write the offsets of the levels (Java: delayOffset.json)."""
        self._config.save(DELAY_OFFSETS_FILE, self.as_json())

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of the file and of tools."""
        return {"offsetTable": self.offsets}

    def synchronize(self, content: JsonObject, now_ms: int) -> None:  # noqa: ARG002
        """Use the offsets of the master from now on."""
        self.offsets = _offsets_in(content)
        self.persist()  # [HA-SLAVE-006]

    def deliver(
        self, now_ms: int, append: Append, log_error: LogError
    ) -> list[PutResult]:
        """Append every message that is due, and return the put results."""
        results: list[PutResult] = []
        for level in range(1, self._levels.max_level + 1):
            queue = self._queues.table.get((SCHEDULE_TOPIC, level - 1))
            # [DELAY-START-001]
            if queue is not None and queue.max_offset > self.offsets.get(level, 0):
                try:
                    results += self._deliver_level(
                        level, queue, now_ms, append, log_error
                    )
                except Exception as error:
                    log_error(f"delay level {level} failed: {error_text(error)}")
        return results

    def _deliver_level(
        self,
        level: int,
        queue: ConsumeQueue,
        now_ms: int,
        append: Append,
        log_error: LogError,
    ) -> list[PutResult]:
        """Append the due messages of a level in order, and return the put results.

        A message that is not stored ends the delivery, and the next one tries it again.
        """
        results: list[PutResult] = []
        for offset, record in self._due_records(level, queue, now_ms):
            if record is not None:
                try:
                    result = append(restore_message(record))  # [DELAY-SEND-007]
                except _MALFORMED as error:  # [DELAY-SEND-008]
                    place = f"delayed message {offset} of level {level}"
                    log_error(f"{place} is dropped: {error_text(error)}")
                else:
                    if result.status is not PutStatus.PUT_OK:
                        break
                    results.append(result)
            # A failure behind this message must not deliver it again. [DELAY-SEND-006]
            self.offsets[level] = offset + 1
        return results

    def _due_records(
        self, level: int, queue: ConsumeQueue, now_ms: int
    ) -> Iterator[tuple[int, memoryview | None]]:
        """Yield queue offset and record of each due message from the level's offset on.

        The record is None if the commit log no longer has it.
        """
        offset = max(self.offsets.get(level, 0), queue.min_offset)
        self.offsets[level] = offset
        latest_ms = now_ms + self._levels.duration_ms(level)
        while (units := queue.units_from(offset)) is not None:
            for physical_offset, size, code in unit_codec.iter_unpack(units):
                due_ms = self._due_ms(queue, code, physical_offset, size, level)
                # After *latest_ms* the clock went back. [DELAY-SEND-001]
                if now_ms < due_ms <= latest_ms:
                    return
                yield offset, self._log.record(physical_offset, size)
                offset += 1

    def _due_ms(
        self, queue: ConsumeQueue, code: int, offset: int, size: int, level: int
    ) -> int:
        """Return the delivery time, which is the tags code of the message's unit."""
        due_ms = queue.tags_code(code)
        if due_ms is None:  # its extension unit is lost
            due_ms = self._log.stored_at(offset, size) + self._levels.duration_ms(level)
        return due_ms


def _offsets_in(value: JsonObject) -> dict[int, int]:
    table = object_in(value, "offsetTable")
    return {as_integer(level): as_integer(offset) for level, offset in table.items()}

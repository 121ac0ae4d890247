"""
A target configured to write optional files: queue extension, timer and others.

A running cluster has other messages, too. It gets those of the settings that a broker
applies to new queues, and only what the suite sent is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.harness.client.client import Client, require_success
from conformance.harness.client.requests.groups import consumer_data, subscription_data
from conformance.harness.client.requests.messages import now_ms
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.pytest_plugin.known_settings import need_defaults
from conformance.harness.targets.target import Target
from spec.clause import release_key
from spec.layout import LayoutError
from spec.store import batch_queue
from spec.store.commit_log import scan
from spec.store.file_names import COMMIT_LOG, CONSUME_QUEUE, offset_of
from spec.store.message_record import Record
from spec.store.timer import timer_log, timer_wheel
from spec.wire.message.message_id import decode_message_id
from spec.wire.remoting.request_code import RequestCode
from spec.wire.send.batch_body import BatchMessage, encode_batch

EXTENSION_FILE_SIZE = 100
TIMER_FILE_SIZE = 400
SETTINGS = {
    "enableConsumeQueueExt": "true",
    "enableCalcFilterBitMap": "true",
    "enablePropertyFilter": "true",
    "mappedFileSizeConsumeQueueExt": str(EXTENSION_FILE_SIZE),
    "enableMultiDispatch": "true",
    "enableLmq": "true",
    "mappedFileSizeTimerLog": str(TIMER_FILE_SIZE),
    "mapperFileSizeBatchConsumeQueue": str(46 * 4),
    "timerFlushIntervalMs": "1000",
    "enabledAppendPropCRC": "true",
}
READ_AT_START = "mappedFileSizeTimerLog", "enabledAppendPropCRC"
"""Those of the settings that a running broker does not apply."""
TIMER_SETTINGS = {"timerWheelEnable": "true", "timerPrecisionMs": "1000"}
"""Settings of the timer on which the tests rely: the defaults."""
TIMER_FILE_SETTING = "mappedFileSizeTimerLog"
PLAIN_COUNT = 6
LIGHT_COUNT = 2
BATCH_SIZES = (2, 1, 3)
BATCH_TOPIC_COUNTS = (*BATCH_SIZES, 1)
"""Messages of each record in the batch topic; the last one is sent alone."""
TIMED_PER_SLOT = 3
TIMED_COUNT = 9
EXPRESSION = "a > 1"
"""Plain messages have the property a, counted from 0."""
NEWEST = 2
"""Files of a running timer's log that are read."""


class LogRecords(dict[int, Record]):
    """Records of a commit log by their offset."""

    error: LayoutError | None = None
    """Error at the first bytes of the log that are not a record."""

    def __missing__(self, offset: int) -> Record:
        """Raise the reason why no record can be read at *offset*."""
        reason = f"no record at commit-log offset {offset}, which a unit has"
        raise self.error or LayoutError(reason, offset=offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """The store of such a target, and the names of what was sent to it."""

    store: Path
    release: str
    topic: str
    batch_topic: str
    group: str
    lights: tuple[str, str]
    """Names of LMQs."""
    is_alone: bool
    """Whether the store has no messages but those of the suite and the broker."""
    timer_file_size: int
    begin_offset: int = 0
    """Commit-log offset from which on records are read."""

    @property
    def is_5(self) -> bool:
        """Whether it is a release that has a timer and batch queues."""
        return release_key(self.release) >= (5,)

    def log(self) -> LogRecords:
        """Return the records of the commit log by their offset."""
        found = LogRecords()
        for file in sorted((self.store / COMMIT_LOG).iterdir()):
            begin = max(self.begin_offset, offset_of(file.name))
            data = file.read_bytes()[begin - offset_of(file.name) :]
            scanned = scan(data, begin)
            found.update({one.offset: one.record for one in scanned.records})
            found.error = found.error or scanned.error
        return found

    def files(self, *place: str) -> dict[int, bytes]:
        """Return the files of a directory of the store by their first offset."""
        folder = self.store.joinpath(*place)
        found = sorted(folder.iterdir()) if folder.exists() else []
        return {offset_of(file.name): file.read_bytes() for file in found}

    def queue(self, topic: str) -> bytes:
        """Return queue 0 of *topic*, its files one after the other."""
        return b"".join(self.files(CONSUME_QUEUE, topic, "0").values())

    def timer_units(self) -> dict[int, timer_log.TimerUnit]:
        """Return the timer's units of the messages that were sent, by position."""
        files = self.files(timer_log.TIMER_LOG)
        for begin in list(files)[: 0 if self.is_alone else -NEWEST]:
            del files[begin]
        units = {
            begin + place: unit
            for begin, data in files.items()
            for place, unit in timer_log.decode_timer_units(data).items()
        }
        log = self.log()
        return {
            position: unit
            for position, unit in units.items()
            if unit.commit_log_offset >= self.begin_offset
            and self.topic in log[unit.commit_log_offset].properties
        }


def running_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of the suite that a broker with *settings* can apply."""
    return {
        name: value
        for name, value in SETTINGS.items()
        if name in settings and name not in READ_AT_START
    }


def write_special(target: Target, *, is_alone: bool = True) -> Special:
    """Send what *target* writes such files for and wait until they are there."""
    assert target.store_path is not None
    with target.connect_to_broker() as broker:
        settings = broker.broker_settings()
        special = Special(
            store=target.store_path,
            release=target.release,
            topic=unique_name("special"),
            batch_topic=unique_name("special_batches"),
            group=unique_name("special"),
            lights=(unique_name("%LMQ%a"), unique_name("%LMQ%b")),
            is_alone=is_alone,
            timer_file_size=int(settings.get(TIMER_FILE_SETTING, TIMER_FILE_SIZE)),
        )
        first = send_plain(broker, special)
        if not is_alone:
            special = replace(special, begin_offset=first)
        if special.is_5:
            need_defaults(target, TIMER_SETTINGS, settings)
            send_timed(broker, special)
            send_batches(broker, special)
    return special


def send_plain(broker: Client, special: Special) -> int:
    """Send messages that a group filters, and some for LMQs.

    Return the commit-log offset of the first.
    """
    require_success(broker.create_topic(topic=special.topic, queue_count=1))
    require_success(broker.update_group(group=special.group))
    subscription = subscription_data(
        topic=special.topic, expression=EXPRESSION, expression_type="SQL92", version=1
    )
    member = consumer_data(group=special.group, subscriptions=[subscription])
    require_success(broker.heartbeat(client_id="special@1", consumers=[member]))
    responses = [
        require_success(broker.send_message(topic=special.topic, properties=properties))
        for properties in properties_of_plain(special.lights)
    ]
    broker.wait_for_max_offset(topic=special.topic, offset=len(responses), timeout_s=30)
    return decode_message_id(responses[0].fields["msgId"])[1]


def properties_of_plain(lights: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the properties of the messages to the plain topic, in their order."""
    for number in range(PLAIN_COUNT):
        yield {"TAGS": f"Tag{number % 2}", "a": str(number), "UNIQ_KEY": f"K{number}"}
    for number in range(LIGHT_COUNT):
        yield {"INNER_MULTI_DISPATCH": ",".join(lights), "UNIQ_KEY": f"L{number}"}


def free_time_ms(special: Special) -> int:
    """Return a time in an hour or later that begins seconds without timer units."""
    path = special.store / timer_wheel.TIMER_WHEEL
    wheel = path.read_bytes() if path.exists() else b""
    due_ms = now_ms() // 1000 * 1000 + 3_600_500
    seconds = range(TIMED_COUNT // TIMED_PER_SLOT)

    def is_free(time_ms: int) -> bool:
        place = timer_wheel.slot_index(time_ms) * timer_wheel.SLOT_SIZE
        data = wheel[place : place + timer_wheel.SLOT_SIZE]
        slot = timer_wheel.decode_timer_slot(data) if data else timer_wheel.TimerSlot()
        return slot.time != time_ms // 1000

    while not all(is_free(due_ms + 1000 * number) for number in seconds):
        due_ms += 60_000
    return due_ms


def send_timed(broker: Client, special: Special) -> None:
    """Send messages for the timer, some for each of a few seconds in an hour."""
    due = free_time_ms(special)
    for number in range(TIMED_COUNT):
        time = str(due + 1000 * (number // TIMED_PER_SLOT))
        properties = {"TIMER_DELIVER_MS": time, "UNIQ_KEY": f"T{number}"}
        require_success(broker.send_message(topic=special.topic, properties=properties))
    wait_until(
        lambda: len(special.timer_units()) >= TIMED_COUNT,
        what="the timer's log has all units",
        timeout_s=60,
    )


def send_batches(broker: Client, special: Special) -> None:
    """Send batches and a message alone to a topic whose queues are for batches."""
    require_success(
        broker.create_topic(
            topic=special.batch_topic, queue_count=1, attributes="+queue.type=BatchCQ"
        )
    )
    for count in BATCH_SIZES:
        require_success(
            broker.send_message(
                topic=special.batch_topic,
                body=batch_of(count),
                properties={"UNIQ_KEY": f"7F0000010000DE1A0000000000000{count}00"},
                code=RequestCode.SEND_BATCH_MESSAGE,
                batch=True,
            )
        )
    require_success(broker.send_message(topic=special.batch_topic))
    wait_until(
        lambda: len(batch_units(special)) == len(BATCH_TOPIC_COUNTS),
        what="the batch queue has all units",
        timeout_s=60,
    )


def batch_of(count: int) -> bytes:
    """Return the body of a batch of *count* messages."""
    return encode_batch(BatchMessage(body=f"{n}".encode()) for n in range(count))


def batch_units(special: Special) -> list[batch_queue.BatchUnit]:
    """Return the units of the batch topic's queue."""
    files = special.files(batch_queue.BATCH_QUEUE, special.batch_topic, "0").values()
    return [unit for data in files for unit in batch_queue.decode_batch_units(data)]

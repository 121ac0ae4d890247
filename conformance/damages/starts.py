"""
Outcome of a real broker's start with a store.

It has the form of ``rmqc recover --format json``, so that the two compare field by
field. Fields that only the prediction has (times, reasons) are left out. The log's end
is found by a send, offsets and messages by requests, and deletions in the directory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from conformance.damages import base_store as rolled
from conformance.damages.served_messages import Message, Pulled, fates, pull
from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.process.process import ProcessError
from spec.store.file_names import COMMIT_LOG, INDEX, offset_of
from spec.wire.bodies.json_object import as_object, object_in
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.topic_names import SCHEDULE_TOPIC
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

Outcome: TypeAlias = dict[str, Any]

START_DEADLINE_S = 90.0
"""After this time a broker counts as one that never serves; 5 s are normal."""
PROBE_TOPIC = "DamageProbe"
RECOVERS_FROM = re.compile(r"recover from this mapped file \S*/(\d{20})")
SHUT_DOWN = re.compile(r"last shutdown (ab)?normally")


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A broker of a release that is started on a damaged store."""

    release: str
    store: Path
    home: Path
    """For its settings and logs."""

    def observe(self, messages: Iterable[Message]) -> Outcome:
        """Start the broker, observe its result for the store, and kill it."""
        before = _files(self.store)
        cluster = ApacheCluster(
            self.release, directory=self.home, conf=rolled.SETTINGS, store=self.store
        )
        _log_more(self.home)
        try:
            cluster.start_broker_alone(deadline_s=START_DEADLINE_S)
            after = _files(self.store)
            with Client.connect(cluster.broker) as broker:
                seen = _query(broker, list(messages))
        except ProcessError as error:
            return {"starts": False, "refusal": self._refusal(error)}
        finally:
            cluster.close()
        seen["log"] |= {
            "min": _first_offset(after[COMMIT_LOG]),
            "deleted_files": _gone(COMMIT_LOG, before, after),
        }
        seen["index"] = {
            "files": len(after[INDEX]),
            "deleted_files": _gone(INDEX, before, after),
        }
        return seen | self._log_facts()

    def _log_facts(self) -> Outcome:
        """Return the facts about the start in the broker's log."""
        text = self.log_text()
        found: Outcome = {}
        if shut_down := SHUT_DOWN.search(text):
            found["after"] = "crash" if shut_down[1] else "stop"
        if begins := RECOVERS_FROM.search(text):
            found["recovery_begins"] = str(int(begins[1]))
        return found

    def _refusal(self, error: ProcessError) -> Outcome:
        """Return why the broker does not serve, in its own words."""
        if " within " in str(error):
            return {"file": None, "says": "it never serves, and never ends"}
        text = self.log_text().replace(f"{self.store}/", "")
        line = next(iter(_suspects(text)), "it logs nothing")
        file = re.search(r"(?:commitlog|consumequeue|index|config)/[\w%/.+-]+", line)
        return {"file": file[0] if file else None, "says": line}

    def log_text(self) -> str:
        """Return all that the broker wrote into logs."""
        places = ("*.log", "logs/rocketmqlogs/*.log")
        files = sorted(file for place in places for file in self.home.glob(place))
        return "\n".join(file.read_text(errors="replace") for file in files)


def _suspects(text: str) -> list[str]:
    """Return the lines of a log with a likely reason for a failed start, best first."""
    lines = [
        re.sub(r"^[\d-]+ [\d:,]+ ", "", line).replace("\t", " ")
        for line in text.splitlines()
    ]
    return [
        line
        for pattern in (
            "length not matched",
            r"^java\.|^Caused by",
            "(?i)load.* failed",
            "Exception|Error",
        )
        for line in lines
        if re.search(pattern, line)
    ]


def _log_more(home: Path) -> None:
    """Have 4.x log how it recovers, as 5.x does anyway."""
    file = home / "conf" / "logback_broker.xml"
    file.write_text(file.read_text().replace('level="WARN"', 'level="INFO"'))


def _files(store: Path) -> Mapping[str, list[str]]:
    """Return the names in the directories from which a start may delete."""
    return {
        name: sorted(path.name for path in (store / name).glob("*"))
        for name in (COMMIT_LOG, INDEX)
    }


def _first_offset(names: Iterable[str]) -> str:
    """Return the offset of the first file, ignoring other files."""
    return str(min((offset_of(name) for name in names if name.isdecimal()), default=0))


def _gone(
    directory: str, before: Mapping[str, list[str]], after: Mapping[str, list[str]]
) -> list[str]:
    gone = set(before[directory]) - set(after[directory])
    return [f"{directory}/{name}" for name in sorted(gone)]


def _query(broker: Client, messages: list[Message]) -> Outcome:
    """Query a serving broker for all facts of the prediction."""
    settings = {"config": _config(broker)}
    committed = _committed(broker)
    for topic, queue_count in rolled.QUEUES.items():
        # Without its topics it would not let us pull. Those it has stay as they are.
        require_success(broker.create_topic(topic=topic, queue_count=queue_count))
    delayed = [(SCHEDULE_TOPIC, 0), (SCHEDULE_TOPIC, 2)]
    pulled = pull(broker, [*rolled.COMMITTED, *delayed])
    own = [one for one in messages if one.topic != SCHEDULE_TOPIC]
    seen_messages = fates(broker, own, pulled)
    delay_offsets = _delay_offsets(broker, pulled)
    probe = _probe(broker)
    return {
        "starts": True,
        "refusal": None,
        "log": probe,
        "queues": _queues(pulled),
        "stuck": [place for place in pulled.stuck() if SCHEDULE_TOPIC not in place],
        "messages": seen_messages,
        "offsets": _outside(committed, pulled),
        "delay_offsets": delay_offsets,
        **settings,
    }


def _probe(broker: Client) -> Outcome:
    """Send a message to a queue of its own; return where it was put, and its size."""
    require_success(broker.create_topic(topic=PROBE_TOPIC, queue_count=1))
    response = require_success(broker.send_message(topic=PROBE_TOPIC, body=b"probe"))
    end = decode_message_id(response.fields["msgId"])[1]
    record = require_success(broker.view_message(commit_log_offset=end)).body
    return {"end": str(end), "probe_size": len(record)}


def _queues(pulled: Pulled) -> Outcome:
    found: Outcome = {}
    for (topic, queue_id), (begin, end) in pulled.ends.items():
        found.setdefault(topic, {})[str(queue_id)] = {
            "min": str(begin),
            "max": str(end),
        }
    return found


def _committed(broker: Client) -> dict[tuple[str, int], int]:
    """Return the group's committed offsets, by queue."""
    table = object_in(as_object(body_of(broker.all_consumer_offsets())), "offsetTable")
    found = {}
    for place, offsets in table.items():
        topic, _, group = str(place).partition("@")
        if group == rolled.GROUP:
            for queue_id, offset in as_object(offsets).items():
                found[topic, int(str(queue_id))] = int(str(offset))
    return found


def _outside(committed: Mapping[tuple[str, int], int], pulled: Pulled) -> list[Outcome]:
    """Return the committed offsets that their queue does not have."""
    found = []
    for (topic, queue_id), offset in sorted(committed.items()):
        begin, end = pulled.ends.get((topic, queue_id), (0, 0))
        if not begin <= offset <= end:
            found.append(
                {
                    "group": rolled.GROUP,
                    "topic": topic,
                    "queue": queue_id,
                    "offset": str(offset),
                    "min": str(begin),
                    "max": str(end),
                }
            )
    return found


def _delay_offsets(broker: Client, pulled: Pulled) -> list[Outcome]:
    """Return the delay levels whose offset is not one of their queue."""
    body = as_object(body_of(broker.all_delay_offsets()))
    found = []
    for level, offset in sorted(object_in(body, "offsetTable").items(), key=str):
        queue = (SCHEDULE_TOPIC, int(str(level)) - 1)
        begin, end = pulled.ends.get(queue, (0, 0))
        if not begin <= int(str(offset)) <= end:
            found.append(
                {
                    "level": int(str(level)),
                    "offset": str(offset),
                    "min": str(begin),
                    "max": str(end),
                }
            )
    return found


def _config(broker: Client) -> Outcome:
    """Return the broker's state that comes from its configuration files."""
    topics = _table(broker.all_topic_config(), "topicConfigTable")
    groups = _table(broker.all_groups(), "subscriptionGroupTable")
    committed = _table(broker.all_consumer_offsets(), "offsetTable")
    delayed = _table(broker.all_delay_offsets(), "offsetTable")
    return {
        "config/topics.json": rolled.ORDERS in topics,
        "config/subscriptionGroup.json": rolled.GROUP in groups,
        "config/consumerOffset.json": any(rolled.GROUP in key for key in committed),
        "config/delayOffset.json": "1" in delayed,
    }


def _table(response: Command, name: str) -> set[str]:
    """Return the keys of a table that a response shows."""
    if response.code != ResponseCode.SUCCESS:
        return set()
    return set(map(str, object_in(as_object(body_of(response)), name)))

"""
Response as comparable facts: text by path, such as ``fields.offset``.

Names of the run become symbols. Ids and offsets of the commit log become ``record 1``,
``record 2``, in the order of their first occurrence in the program. Two targets that
mean the same records then have equal facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from conformance.differential.steps.step import Body, Nothing, Response, Step, perform
from conformance.differential.undetermined import reason_for
from conformance.differential.world import World
from spec.host import Host
from spec.layout import LayoutError
from spec.store.message_record import Record, decode_records
from spec.wire.bodies.fastjson import loads
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import HALF_TOPIC, SCHEDULE_TOPIC
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

Facts: TypeAlias = dict[str, str]
PLACES = frozenset({"phyOffset", "commitLogOffset"})
SHARED = (SCHEDULE_TOPIC, HALF_TOPIC)
"""Topics in which every program's messages lie."""
SETS = frozenset(
    {"consumerIdList", "connectionSet", "lockOKMQSet", "groupList", "mqSet"}
)
"""Members that are lists in JSON and sets in meaning."""
SHOWN_SIZE = 80


@dataclass(slots=True)
class Reader:
    """Reads the responses of one target in one program."""

    world: World
    _places: dict[int, str] = field(default_factory=dict)

    def invoke(self, step: Step) -> Facts:
        """Run *step* on the target, and return its facts."""
        return self.facts(step, perform(step, self.world))

    def facts(self, step: Step, response: Response) -> Facts:
        """Return the comparable facts of *response*."""
        if isinstance(response, Nothing):
            return {"code": response.value}
        found = dict(self._all(step, response))
        return {
            path: "~" if reason_for(f"{step.kind}.{path}") else text
            for path, text in found.items()
        }

    def _all(self, step: Step, response: Command) -> Iterator[tuple[str, str]]:
        yield "code", code_name(response.code)
        for name, value in sorted(response.fields.items()):
            yield f"fields.{name}", self._field(name, value)
        reading = step.body if response.code == ResponseCode.SUCCESS else Body.PLAIN
        try:
            yield from self._body(reading, response.body)
        except LayoutError as error:
            yield "body", f"cannot be read: {error}"

    def _field(self, name: str, value: str) -> str:
        if name in ("msgId", "offsetMsgId"):
            return ", ".join(self._id(one) for one in value.split(","))
        if name == "transactionId":
            return self._unique(value)
        return self._text(value)

    def _body(self, reading: Body, body: bytes) -> Iterator[tuple[str, str]]:
        if reading is Body.RECORDS:
            records = list(decode_records(body))
            yield "records", str(len(records))
            for index, record in enumerate(records):
                for name, text in self._record(record):
                    yield f"records.{index}.{name}", text
        elif reading is Body.PLAIN or not body:
            yield "body", shown(body)
        else:
            value = loads(body)
            if reading is Body.TABLE:
                value = self._own_entries(value)
            yield from self._value("body", value)

    def _record(self, record: Record) -> Iterator[tuple[str, str]]:
        yield "topic", self._text(record.topic)
        yield "queue_id", str(record.queue_id)
        is_shared = record.topic in SHARED
        yield "queue_offset", "~" if is_shared else str(record.queue_offset)
        yield "physical_offset", self._place(record.physical_offset)
        yield "body", shown(record.body)
        yield "flag", str(record.flag)
        yield "system_flags", str(record.system_flags)
        yield "born_at_ms", str(record.born_at_ms)
        yield "born_host", self._host(record.born_host)
        yield "stored_at_ms", "~"
        yield "store_host", self._host(record.store_host)
        yield "reconsume_times", str(record.reconsume_times)
        prepared = record.prepared_transaction_offset
        yield "prepared", self._place(prepared) if prepared else "0"
        yield "magic", f"{record.magic:#x}"
        for name, value in sorted(decode_properties(record.properties).items()):
            yield f"properties.{name}", self._property(name, value)

    def _property(self, name: str, value: str) -> str:
        if name == "CLUSTER" and value == self.world.target.cluster:
            return "<the cluster>"
        if name == "UNIQ_KEY":
            return self._unique(value)
        if name == "ORIGIN_MESSAGE_ID":
            return self._id(value)
        return self._text(value)

    def _own_entries(self, value: object) -> object:
        """Return the tables in *value* without entries that are not this program's."""
        if not isinstance(value, Mapping):
            return value
        prefix = self.world.prefix
        return {
            name: {key: one for key, one in table.items() if prefix in str(key)}
            for name, table in value.items()
            if isinstance(table, Mapping) and name != "dataVersion"
        }

    def _value(self, path: str, value: object) -> Iterator[tuple[str, str]]:
        """Yield the leaves below *path*; of sets in an order of their own."""
        if isinstance(value, Mapping):
            for key in sorted(value, key=str):
                yield from self._value(f"{path}.{self._key(key)}", value[key])
            if not value:
                yield path, "{}"
        elif isinstance(value, list):
            leaves = [dict(self._value("", one)) for one in value]
            if path.rpartition(".")[2] in SETS:
                leaves.sort(key=lambda one: sorted(one.items()))
            yield path, f"list of {len(leaves)}"
            for index, one in enumerate(leaves):
                for name, text in one.items():
                    yield f"{path}.{index}{name}", text
        else:
            yield path, self._leaf(path, value)

    def _leaf(self, path: str, value: object) -> str:
        if path.endswith("clientAddr"):
            return "<us>"
        return self._text(str(value))

    def _key(self, key: object) -> str:
        if isinstance(key, tuple):
            pairs = sorted(key, key=str)
            return "/".join(self._text(str(pair[-1])) for pair in pairs)
        return self._text(str(key))

    def _text(self, text: str) -> str:
        """Return *text* with symbols for what is named for this run alone."""
        plain = text.replace(self.world.prefix, "")
        name = self.world.target.broker_name
        return "<the broker>" if name and plain == name else plain

    def _id(self, text: str) -> str:
        try:
            host, place = decode_message_id(text)
        except LayoutError:
            return self._text(text)
        return f"{self._place(place)} of {self._host(host)}"

    def _place(self, offset: int) -> str:
        name = f"record {len(self._places) + 1}"
        return self._places.setdefault(offset, name)

    def _host(self, host: Host) -> str:
        port = str(host).rpartition(":")[2]
        broker = self.world.target.broker
        return "<the broker>" if broker and port == str(broker.port) else "<us>"

    def _unique(self, value: str) -> str:
        own = self.world.prefix in value
        return self._text(value) if own or not value else "<made by the broker>"


def code_name(code: int) -> str:
    """Return a response code with its name."""
    try:
        return f"{code} {ResponseCode(code).name}"
    except ValueError:
        return f"{code} ?"


def shown(body: bytes) -> str:
    """Return *body* as text, its middle left out where it is long."""
    if len(body) <= SHOWN_SIZE:
        return repr(body)[1:]
    return f"{len(body)} bytes {body[:16]!r}...{body[-16:]!r} sum {sum(body)}"


def different(some: Facts, other: Facts) -> list[str]:
    """Return the paths at which two responses differ.

    Answers with different codes differ in that, and the rest follows from it.
    """
    if some.get("code") != other.get("code"):
        return ["code"]
    paths = sorted(some.keys() | other.keys())
    return [path for path in paths if some.get(path) != other.get(path)]

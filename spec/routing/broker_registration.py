"""
A registration is a broker's sign of life at a name server, with its topics.

A broker sends one to each name server when it starts, every 30 seconds, and when a
topic changes. The header names the broker. The body has its topics with their data
version and its filter servers, as JSON or in a compressed form. The response has the
address of a slave's master. Before 5.0 there is no other heartbeat.

The compressed form is one zlib stream of parts, each after its length in four bytes.
The data version comes first, as JSON, then the number of topics and one line for each
topic. The filter servers follow as a JSON list, and from 5.0 on the queue mappings.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from spec.integers import body_crc
from spec.layout import LayoutError
from spec.routing.topic_config import (
    FIRST_RELEASE,
    DataVersion,
    TopicTable,
    data_version_as_json,
    decode_data_version,
    decode_topic_line,
    encode_data_version,
    encode_topic_line,
    has_members_of_5,
    topic_table_as_json,
    topic_table_from_json,
)
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_object import as_object, list_in, object_in
from spec.wire.bodies.zlib_stream import inflate

INFLATED_SIZE_MAX = 256 * 1024 * 1024
"""A compressed registration that inflates to more than this is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerIdentity:
    """The registering broker: the header fields that name it."""

    cluster: str
    broker_name: str
    address: str
    """``host:port`` that clients connect to (Java: brokerAddr)."""
    broker_id: int = 0
    ha_address: str = "127.0.0.1:0"
    """Address from which slaves replicate the commit log (Java: haServerAddr)."""

    def fields(self) -> dict[str, str]:
        """Return the header fields that name the broker in every request about it."""
        return {
            "brokerName": self.broker_name,
            "brokerAddr": self.address,
            "clusterName": self.cluster,
            "brokerId": str(self.broker_id),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationBody:
    """Topics and filter servers of a broker (Java: RegisterBrokerBody)."""

    topics: TopicTable
    filter_servers: tuple[str, ...] = field(default=())


def registration_fields(
    identity: BrokerIdentity, body: bytes, *, compressed: bool = False
) -> dict[str, str]:
    """Return the header fields of the registration of *identity* with *body*.

    Brokers of 5.x add enableActingMaster. Without it a name server of 5.x takes the
    broker for one of 4.x, whose slaves make no routes.
    """
    return identity.fields() | {
        "haServerAddr": identity.ha_address,
        "compressed": "true" if compressed else "false",
        "bodyCrc32": str(body_crc(body)),
    }


def encode_registration(
    body: RegistrationBody, *, compressed: bool = False, release: str = FIRST_RELEASE
) -> bytes:
    """Return the bytes of *body* from a peer of *release*, as JSON or compressed."""
    if compressed:
        return zlib.compress(b"".join(_parts(body, release)), 9)
    table = topic_table_as_json(body.topics, release)
    if has_members_of_5(release):
        table |= _no_queue_mappings(release)
    return fastjson.dumps(
        {
            "filterServerList": list(body.filter_servers),
            "topicConfigSerializeWrapper": table,
        }
    )


def decode_registration(
    data: bytes, *, compressed: bool = False, takes_attributes: bool = True
) -> RegistrationBody:
    """Return the registration that *data* holds.

    Name servers up to 4.9 do not take the attributes in a line of a compressed one.
    """
    if compressed:
        return _decode_compressed(data, takes_attributes=takes_attributes)
    found = as_object(fastjson.loads(data))
    table = object_in(found, "topicConfigSerializeWrapper")
    return RegistrationBody(
        topics=topic_table_from_json(table),
        filter_servers=tuple(map(str, list_in(found, "filterServerList"))),
    )


def _no_queue_mappings(release: str) -> dict[str, object]:
    """Return the members about static topics of a broker without such topics.

    5.3.3 TopicConfigAndMappingSerializeWrapper (org.apache.rocketmq.remoting).
    """
    return {
        "mappingDataVersion": data_version_as_json(DataVersion(), release),
        "topicQueueMappingDetailMap": {},
        "topicQueueMappingInfoMap": {},
    }


def _parts(body: RegistrationBody, release: str) -> Iterator[bytes]:
    """Yield the inflated bytes of *body*, part by part.

    From 5.0 on the number of queue mappings is last. A name server that sees a version
    of 4.x in the frame's header does not read it.
    """
    yield _with_size(encode_data_version(body.topics.version, release))
    yield len(body.topics.topics).to_bytes(4, "big")
    for topic in body.topics.topics.values():
        yield _with_size(encode_topic_line(topic).encode())
    yield _with_size(fastjson.dumps(list(body.filter_servers)))
    if has_members_of_5(release):
        yield (0).to_bytes(4, "big")


def _with_size(part: bytes) -> bytes:
    return len(part).to_bytes(4, "big") + part


def _decode_compressed(data: bytes, *, takes_attributes: bool) -> RegistrationBody:
    """Return the registration of the compressed *data*; queue mappings are not read."""
    inflated = _Parts(_inflate(data))
    version = decode_data_version(inflated.part("dataVersion"))
    topics = {}
    for _ in range(inflated.integer("topicConfigTable")):
        line = inflated.text("topicConfigTable")
        topic = decode_topic_line(line, takes_attributes=takes_attributes)
        topics[topic.topic] = topic
    servers = fastjson.loads(inflated.part("filterServerList"))
    return RegistrationBody(
        topics=TopicTable(topics=topics, version=version),
        filter_servers=tuple(map(str, servers)) if isinstance(servers, list) else (),
    )


def _inflate(data: bytes) -> bytes:
    """Return the inflated *data*, which must not be larger than we are ready for."""
    try:
        return inflate(data, INFLATED_SIZE_MAX)
    except zlib.error as error:
        raise LayoutError(f"not a zlib stream: {error}", field="body") from error


class _Parts:
    """Reads parts from the front of inflated bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0

    def integer(self, name: str) -> int:
        """Return the next four bytes, which are not negative, as a number."""
        value = int.from_bytes(self._take(4, name), "big", signed=True)
        if value < 0:
            raise LayoutError(
                f"{value} is negative", field=name, offset=self._offset - 4
            )
        return value

    def part(self, name: str) -> bytes:
        """Return the bytes that follow their size."""
        return self._take(self.integer(name), name)

    def text(self, name: str) -> str:
        """Return the next part as text."""
        try:
            return self.part(name).decode()
        except UnicodeDecodeError as error:
            raise LayoutError(str(error), field=name, offset=self._offset) from error

    def _take(self, size: int, name: str) -> bytes:
        left = len(self._data) - self._offset
        if size > left:
            reason = f"{size} bytes wanted, {left} left"
            raise LayoutError(reason, field=name, offset=self._offset)
        self._offset += size
        return self._data[self._offset - size : self._offset]

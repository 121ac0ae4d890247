"""
Decoders of a registration's body (Java: RegisterBrokerBody).

The body is JSON, or one zlib stream of parts. Each part follows its size in four
bytes: the data version, one line per topic, the filter servers. The number of topics
stands after the data version.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from reference.core.name_server.route_tables import DataVersion, QueueData
from reference.core.remoting.request import Request
from spec.wire.bodies import fastjson

_FIRST_WITH_FILTER_SERVERS = 37
"""In requests of older versions the body is the topic table (Java: V3_0_11)."""
_INFLATED_SIZE_MAX = 256 * 1024 * 1024
_TOPIC_WORDS = 5


class RegistrationError(ValueError):
    """A registration whose body cannot be decoded."""


class RegistrationBody(NamedTuple):
    """Topics of a broker, their data version, and its filter servers."""

    version: DataVersion = (0, 0)
    topics: Mapping[str, QueueData] = {}
    filter_servers: tuple[str, ...] | None = ()
    """None where the body has no list of them."""


def decode_body(request: Request, broker_name: str) -> RegistrationBody:
    """Return the body of a registration; errors are ValueErrors."""
    has_filter_servers = request.version >= _FIRST_WITH_FILTER_SERVERS
    if not request.body:  # [ROUTE-REG-007]
        return RegistrationBody(filter_servers=() if has_filter_servers else None)
    if not has_filter_servers:  # [ROUTE-REG-008]
        version, topics = _topic_table(json_object(request.body), broker_name)
        return RegistrationBody(version, topics, None)
    if request.truth("compressed"):  # [ROUTE-REG-002]
        return _decode_compressed(request.body, broker_name)
    body = json_object(request.body)
    wrapper = body.get("topicConfigSerializeWrapper") or {}
    version, topics = _topic_table(wrapper, broker_name)
    filter_servers = tuple(str(s) for s in body.get("filterServerList") or ())
    return RegistrationBody(version, topics, filter_servers)


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in *body*."""
    value = fastjson.loads(body)
    if not isinstance(value, dict):
        raise RegistrationError("the body is not a JSON object")
    return value


def data_version(value: Mapping[str, Any]) -> DataVersion:
    """Return a data version; absent members are 0."""
    return int(value.get("timestamp") or 0), int(value.get("counter") or 0)


def _topic_table(
    wrapper: Mapping[str, Any], broker_name: str
) -> tuple[DataVersion, dict[str, QueueData]]:
    """Return version and topics of a TopicConfigSerializeWrapper."""
    table = wrapper.get("topicConfigTable") or {}
    topics = {
        str(config.get("topicName") or topic): QueueData(
            broker_name,
            int(config.get("readQueueNums", 16)),
            int(config.get("writeQueueNums", 16)),
            int(config.get("perm", 6)),  # [ROUTE-TOPIC-001]
            int(config.get("topicSysFlag", 0)),
        )
        for topic, config in table.items()
    }
    return data_version(wrapper.get("dataVersion") or {}), topics


def _decode_compressed(data: bytes, broker_name: str) -> RegistrationBody:
    parts = _parts(_inflate(data))
    version = data_version(json_object(next(parts, b"")))
    *lines, filter_servers = list(parts) or [b"[]"]
    topics = {}
    for line in lines:
        words = line.decode().split(" ")
        if len(words) != _TOPIC_WORDS:  # [ROUTE-TOPIC-005]
            raise RegistrationError(f"topic {line!r} does not have five words")
        name, reads, writes, permission, _ = words  # [ROUTE-TOPIC-002]
        # [ROUTE-TOPIC-003]
        topics[name] = QueueData(
            broker_name, int(reads), int(writes), int(permission), 0
        )
    servers = tuple(str(s) for s in json.loads(filter_servers))
    return RegistrationBody(version, topics, servers)


def _inflate(data: bytes) -> bytes:
    """Return the inflated body, of at most 256 MiB."""
    stream = zlib.decompressobj()
    try:
        body = stream.decompress(data, _INFLATED_SIZE_MAX)
    except zlib.error as error:
        raise RegistrationError(f"the body does not inflate: {error}") from None
    if stream.unconsumed_tail:
        raise RegistrationError("the body inflates to more than 256 MiB")
    return body


def _parts(body: bytes) -> Iterator[bytes]:
    """Yield the parts of an inflated body: version, topics, filter servers."""
    part, start = _part(body, 0)
    yield part
    topic_count = int.from_bytes(body[start : start + 4], "big")
    start += 4
    for _ in range(topic_count + 1):
        part, start = _part(body, start)
        yield part


def _part(body: bytes, start: int) -> tuple[bytes, int]:
    """Return the part that begins at *start*, and the start of the next one."""
    size = int.from_bytes(body[start : start + 4], "big")
    stop = start + 4 + size
    if stop > len(body) or len(body) - start < 4:
        raise RegistrationError(f"the part at byte {start} is truncated")
    return body[start + 4 : stop], stop

"""
How a broker tells the name server that it is there, and what it has.

The body comes plain or compressed. Compressed, it is one zlib stream of pieces, each
after a 4-byte count of its bytes; the number of topics stands between them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reference.core.answer import SYSTEM_ERROR, Answer, refusal
from reference.core.name_server.tables import DataVersion, QueueData, Registration
from reference.core.request import Request
from spec.integers import body_crc
from spec.wire import fastjson

if TYPE_CHECKING:
    from reference.core.name_server.dispatch import NameServer

ORDER_TOPICS = "ORDER_TOPIC_CONFIG"
"""The namespace of the key-value table in which order topics stand."""
_FIRST_WITH_FILTER_SERVERS = 37
"""4.6.0 reads an older broker's body as topics alone (Java: Version.V3_0_11)."""
_BODY_SIZE_MAX = 256 * 1024 * 1024
_TOPIC_PARTS = 5

_NO_BODY: tuple[DataVersion, dict[str, QueueData], tuple[str, ...]] = ((0, 0), {}, ())


class RegistrationError(ValueError):
    """A registration's body is not what a broker sends."""


def register_broker(server: NameServer, request: Request) -> Answer:
    """Take in a broker; answer with its master and the order topics."""
    crc = request.optional_int32("bodyCrc32")
    if crc not in {0, body_crc(request.body)}:  # [ROUTE-REG-003] [ROUTE-REG-004]
        return refusal(SYSTEM_ERROR, "crc32 not match")
    name = request.text("brokerName")
    version, topics, filter_servers = _read_body(request, name)  # [ROUTE-REG-005]
    broker = Registration(
        cluster=request.text("clusterName"),
        address=request.text("brokerAddr"),
        name=name,
        broker_id=request.int64("brokerId"),  # [ROUTE-REG-006]
        ha_address=request.optional_text("haServerAddr"),
        version=version,
        topics=topics,
        filter_servers=filter_servers,
    )
    # [ROUTE-REG-001] [ROUTE-REG-023]
    server.tables.register(broker, request.connection, request.now_ms)
    master = server.tables.master_of(broker)  # [ROUTE-REG-009] [ROUTE-REG-010]
    fields = {}
    if master is not None:
        fields = {"masterAddr": master[0], "haServerAddr": str(master[1])}
    order_topics = server.key_values.get(ORDER_TOPICS)  # [ROUTE-KV-007]
    body = b"" if order_topics is None else fastjson.dumps({"table": order_topics})
    return Answer(fields=fields, body=body)


def unregister_broker(server: NameServer, request: Request) -> Answer:
    """Forget a broker that says goodbye."""
    server.tables.unregister(  # [ROUTE-LIVE-002] [ROUTE-LIVE-005]
        cluster=request.text("clusterName"),
        address=request.text("brokerAddr"),
        name=request.text("brokerName"),
        broker_id=request.int64("brokerId"),
    )
    return Answer()


def query_data_version(server: NameServer, request: Request) -> Answer:
    """Say whether a broker's configuration is news, and count a life sign if not."""
    address = request.text("brokerAddr")
    # [ROUTE-VERSION-002]
    changed = server.tables.has_changed(address, _version(_object(request.body)))
    if not changed:
        server.tables.touch(address, request.now_ms)
    life = server.tables.alive.get(address)
    body = b""
    if life is not None:  # [ROUTE-VERSION-001]
        timestamp, counter = life.version
        # [ROUTE-VERSION-003]
        body = fastjson.dumps({"counter": counter, "timestamp": timestamp})
    return Answer(fields={"changed": changed}, body=body)


def _read_body(
    request: Request, broker: str
) -> tuple[DataVersion, dict[str, QueueData], tuple[str, ...] | None]:
    """Return version, topics and filter servers of a registration's body."""
    has_filter_servers = request.version >= _FIRST_WITH_FILTER_SERVERS
    if not request.body:  # [ROUTE-REG-007]
        return _NO_BODY if has_filter_servers else (*_NO_BODY[:2], None)
    if not has_filter_servers:  # [ROUTE-REG-008]
        return *_read_topics(_object(request.body), broker), None
    if request.truth("compressed"):  # [ROUTE-REG-002]
        return _read_compressed(request.body, broker)
    body = _object(request.body)
    topics = _read_topics(body.get("topicConfigSerializeWrapper") or {}, broker)
    return *topics, tuple(str(s) for s in body.get("filterServerList") or ())


def _read_topics(
    wrapper: Mapping[str, Any], broker: str
) -> tuple[DataVersion, dict[str, QueueData]]:
    table = wrapper.get("topicConfigTable") or {}
    topics = {
        str(config.get("topicName") or topic): QueueData(
            broker,
            int(config.get("readQueueNums", 16)),
            int(config.get("writeQueueNums", 16)),
            int(config.get("perm", 6)),  # [ROUTE-TOPIC-001]
            int(config.get("topicSysFlag", 0)),
        )
        for topic, config in table.items()
    }
    return _version(wrapper.get("dataVersion") or {}), topics


def _read_compressed(
    data: bytes, broker: str
) -> tuple[DataVersion, dict[str, QueueData], tuple[str, ...]]:
    pieces = _pieces(_inflate(data))
    version = _version(_object(next(pieces, b"")))
    *topics, filter_servers = list(pieces) or [b"[]"]
    table = {}
    for topic in topics:
        parts = topic.decode().split(" ")
        if len(parts) != _TOPIC_PARTS:  # [ROUTE-TOPIC-005]
            raise RegistrationError(f"topic {topic!r} has not five parts")
        name, reads, writes, permission, _ = parts  # [ROUTE-TOPIC-002]
        # [ROUTE-TOPIC-003]
        table[name] = QueueData(broker, int(reads), int(writes), int(permission), 0)
    return version, table, tuple(str(s) for s in json.loads(filter_servers))


def _inflate(data: bytes) -> bytes:
    """Return what *data* holds, unless that is more than a registration can be."""
    stream = zlib.decompressobj()
    try:
        body = stream.decompress(data, _BODY_SIZE_MAX)
    except zlib.error as error:
        raise RegistrationError(f"the body does not inflate: {error}") from None
    if stream.unconsumed_tail:
        raise RegistrationError("the body inflates to more than 256 MiB")
    return body


def _pieces(body: bytes) -> Iterator[bytes]:
    """Yield the pieces of an inflated body: version, topics, filter servers."""
    start = 0
    piece, start = _piece(body, start)
    yield piece
    count = int.from_bytes(body[start : start + 4], "big")
    start += 4
    for _ in range(count + 1):
        piece, start = _piece(body, start)
        yield piece


def _piece(body: bytes, start: int) -> tuple[bytes, int]:
    size = int.from_bytes(body[start : start + 4], "big")
    stop = start + 4 + size
    if stop > len(body) or len(body) - start < 4:
        raise RegistrationError(f"the piece at byte {start} is cut off")
    return body[start + 4 : stop], stop


def _object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in *body*."""
    value = fastjson.loads(body)
    if not isinstance(value, dict):
        raise RegistrationError("the body is no JSON object")
    return value


def _version(value: Mapping[str, Any]) -> DataVersion:
    """Return a data version; Java writes the counter as a bare number."""
    return int(value.get("timestamp") or 0), int(value.get("counter") or 0)

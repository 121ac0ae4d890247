"""
Key-value configuration by namespace, persisted on each change (Java: KVConfigManager).

Clients use one namespace, `ORDER_TOPIC_CONFIG`. The others are for tools.
"""

from __future__ import annotations

from msgspec import Struct

from reference.core.persistence import Persistence
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import Response, json_response
from spec.routing.kv_config import ORDER_TOPIC_NAMESPACE
from spec.wire.bodies import fastjson
from spec.wire.remoting.response_code import ResponseCode

KeyValues = dict[str | None, str | None]
"""The pairs of one namespace. An absent header field is the key null, as in 4.6.0."""
Namespaces = dict[str | None, KeyValues]


class KvConfigTable(Struct):
    """Key-value pairs by namespace, and the persistence of their file."""

    namespaces: Namespaces
    persistence: Persistence

    @property
    def order_topics(self) -> KeyValues | None:
        """The ordered topics and their queues (``a:4;b:4``), None without any."""
        return self.namespaces.get(ORDER_TOPIC_NAMESPACE)  # [ROUTE-KV-007]


def put_kv_config(kv_config: KvConfigTable, request: Request) -> Response:
    """Set a key of a namespace."""
    namespace, key = _namespace_and_key(request)
    # [ROUTE-KV-001] [ROUTE-KV-011] [ROUTE-KV-012]
    pairs = kv_config.namespaces.setdefault(namespace, {})
    pairs[key] = request.optional_text("value")
    kv_config.persistence.mark_changed()  # [ROUTE-KV-013]
    return Response()


def get_kv_config(kv_config: KvConfigTable, request: Request) -> Response:
    """Return the value of a key of a namespace."""
    namespace, key = _namespace_and_key(request)
    value = kv_config.namespaces.get(namespace, {}).get(key)
    if value is None:
        raise Refused(
            ResponseCode.QUERY_NOT_FOUND,  # [ROUTE-KV-002]
            f"No config item, Namespace: {namespace} Key: {key}",
        )
    return Response(fields={"value": value})


def delete_kv_config(kv_config: KvConfigTable, request: Request) -> Response:
    """Remove a key of a namespace; an absent key is not an error."""
    namespace, key = _namespace_and_key(request)
    # [ROUTE-KV-003] [ROUTE-KV-006]
    kv_config.namespaces.get(namespace, {}).pop(key, None)
    kv_config.persistence.mark_changed()
    return Response()


def get_kv_list_by_namespace(kv_config: KvConfigTable, request: Request) -> Response:
    """Return all pairs of a namespace (Java: KVTable)."""
    namespace = request.optional_text("namespace")
    table = kv_config.namespaces.get(namespace)
    if table is None:  # [ROUTE-KV-005]
        raise Refused(
            ResponseCode.QUERY_NOT_FOUND, f"No config item, Namespace: {namespace}"
        )
    return json_response({"table": table})  # [ROUTE-KV-004]


def encode_kv_config(namespaces: Namespaces) -> str:
    """Return the content of kvConfig.json (Java: KVConfigSerializeWrapper)."""
    return fastjson.dumps({"configTable": namespaces}).decode()


def decode_kv_config(text: str) -> Namespaces:
    """Return the namespaces in the content of kvConfig.json; blank text has none.

    Raises ValueError for content on which a 4.6.0 name server does not start. Its
    `.bak` is not read (4.6.0 KVConfigManager#load).
    """
    content = fastjson.loads(text) if text.strip() else None
    if content is None or content == []:
        return {}
    table = content.get("configTable") if isinstance(content, dict) else None
    if not isinstance(table, dict):
        raise ValueError("it has no object configTable")
    return {
        str(namespace): _decode_namespace(namespace, values)
        for namespace, values in table.items()
        if values is not None
    }


def _decode_namespace(namespace: object, values: object) -> KeyValues:
    """Return the pairs of one namespace; values that are not strings are JSON text."""
    if not isinstance(values, dict):
        raise ValueError(f"namespace {namespace} is not an object")
    return {
        str(key): value
        if value is None or isinstance(value, str)
        else fastjson.dumps(value).decode()
        for key, value in values.items()
    }


def _namespace_and_key(request: Request) -> tuple[str | None, str | None]:
    return request.optional_text("namespace"), request.optional_text("key")

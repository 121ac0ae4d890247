"""
The name server's key-value table: small settings in namespaces, kept on disk.

Clients know one namespace, the one of order topics; the rest is for tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import Answer, refusal
from reference.core.request import Request
from spec.wire import fastjson
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.name_server.dispatch import NameServer

KeyValues = dict[str | None, dict[str | None, str | None]]
"""Values by namespace and key. 4.6.0 takes a field that is absent for a null."""


def put_key_value(server: NameServer, request: Request) -> Answer:
    """Set a key of a namespace."""
    namespace, key = _names(request)
    value = request.optional_text("value")
    # [ROUTE-KV-001] [ROUTE-KV-011] [ROUTE-KV-012]
    server.key_values.setdefault(namespace, {})[key] = value
    server.key_values_changed()  # [ROUTE-KV-013]
    return Answer()


def get_key_value(server: NameServer, request: Request) -> Answer:
    """Answer a key of a namespace."""
    namespace, key = _names(request)
    value = server.key_values.get(namespace, {}).get(key)
    if value is None:
        return refusal(
            ResponseCode.QUERY_NOT_FOUND,  # [ROUTE-KV-002]
            f"No config item, Namespace: {namespace} Key: {key}",
        )
    return Answer(fields={"value": value})


def delete_key_value(server: NameServer, request: Request) -> Answer:
    """Remove a key of a namespace, whether or not it is there."""
    namespace, key = _names(request)
    server.key_values.get(namespace, {}).pop(key, None)  # [ROUTE-KV-003] [ROUTE-KV-006]
    server.key_values_changed()
    return Answer()


def list_key_values(server: NameServer, request: Request) -> Answer:
    """Answer all keys of a namespace."""
    namespace = request.optional_text("namespace")
    table = server.key_values.get(namespace)
    if table is None:  # [ROUTE-KV-005]
        return refusal(
            ResponseCode.QUERY_NOT_FOUND, f"No config item, Namespace: {namespace}"
        )
    return Answer(body=fastjson.dumps({"table": table}))  # [ROUTE-KV-004]


def _names(request: Request) -> tuple[str | None, str | None]:
    return request.optional_text("namespace"), request.optional_text("key")


def encode_key_values(key_values: KeyValues) -> str:
    """Return the table as its file holds it."""
    return fastjson.dumps({"configTable": key_values}).decode()


def decode_key_values(data: str) -> KeyValues:
    """Return the table that a file holds."""
    content = fastjson.loads(data)
    table = content.get("configTable") if isinstance(content, dict) else None
    return {
        str(namespace): {str(k): str(v) for k, v in values.items()}
        for namespace, values in (table or {}).items()
    }

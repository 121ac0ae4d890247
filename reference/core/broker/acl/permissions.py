"""
Permissions: those of an account, and the one that a request needs.

Java keeps topics and groups in one table, a group under its retry topic. So a send to
a retry topic needs a permission on the group (Java: PlainAccessValidator#parse).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Flag

from reference.core.remoting.request import Request
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_object import as_object, list_in, text_in
from spec.wire.message.topic_names import RETRY_PREFIX
from spec.wire.remoting.request_code import RequestCode


class Permission(Flag):
    """Permissions on one topic or group (Java: Permission)."""

    DENY = 0
    PUB = 1
    SUB = 2


PUB, SUB = Permission.PUB, Permission.SUB
_WORDS = {"PUB": PUB, "SUB": SUB, "PUB|SUB": PUB | SUB, "SUB|PUB": PUB | SUB}


def permission_of(word: str | None) -> Permission:
    """Return the permission that *word* names; an unknown word denies."""
    return _WORDS.get((word or "").strip(), Permission.DENY)  # [SEC-ACL-013]


def resource_of_group(group: str) -> str:
    """Return the name under which permissions of a group are kept."""
    return group if group.startswith(RETRY_PREFIX) else RETRY_PREFIX + group


def printed(resource: str) -> str:
    """Return a resource as a refusal names it."""
    if resource.startswith(RETRY_PREFIX):
        return f"group:{resource.removeprefix(RETRY_PREFIX)}"
    return f"topic:{resource}"


def needed_permissions(request: Request) -> Iterator[tuple[str, Permission]]:
    """Yield the resources of a request, each with the permission that it needs.

    The last permission of a resource counts
    (4.6.0 PlainAccessResource#addResourceAndPerm).
    """
    fields = request.fields
    match request.code:
        # [SEC-PERM-003] [SEC-PERM-013]
        case RequestCode.SEND_MESSAGE:
            yield from _on_topic(fields.get("topic"), PUB)
        case RequestCode.SEND_MESSAGE_V2:
            yield from _on_topic(fields.get("b"), PUB)
        case RequestCode.CONSUMER_SEND_MSG_BACK:  # [SEC-PERM-005]
            yield from _on_topic(fields.get("originTopic"), PUB)
            yield from _on_group(fields.get("group"))
        case RequestCode.PULL_MESSAGE | RequestCode.UPDATE_CONSUMER_OFFSET:
            # [SEC-PERM-007] [SEC-PERM-012]
            yield from _on_topic(fields.get("topic"), SUB)
            yield from _on_group(fields.get("consumerGroup"))
        case RequestCode.QUERY_MESSAGE:  # [SEC-PERM-008]
            yield from _on_topic(fields.get("topic"), SUB)
        # [SEC-PERM-010] [SEC-PERM-011]
        case RequestCode.UNREGISTER_CLIENT | RequestCode.GET_CONSUMER_LIST_BY_GROUP:
            yield from _on_group(fields.get("consumerGroup"))
        case RequestCode.HEART_BEAT:
            yield from _of_heartbeat(request.body)


def _of_heartbeat(body: bytes) -> Iterator[tuple[str, Permission]]:
    """Yield the resources of a heartbeat; raise LayoutError if it is malformed."""
    for consumer in list_in(as_object(fastjson.loads(body)), "consumerDataSet"):
        members = as_object(consumer, "consumerDataSet")
        yield from _on_group(text_in(members, "groupName"))  # [SEC-PERM-009]
        for subscription in list_in(members, "subscriptionDataSet"):
            topic = text_in(as_object(subscription, "subscriptionDataSet"), "topic")
            yield from _on_topic(topic, SUB)


def _on_topic(
    topic: str | None, permission: Permission
) -> Iterator[tuple[str, Permission]]:
    if topic is not None:
        yield topic, permission


def _on_group(group: str | None) -> Iterator[tuple[str, Permission]]:
    if group is not None:
        yield resource_of_group(group), SUB

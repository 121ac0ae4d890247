"""
The small requests of a client: routes, heartbeats, offsets.
"""

from __future__ import annotations

from collections.abc import Mapping

from reference.core.answer import LANGUAGE, RELEASE_ORDINAL
from spec.wire.command import Command
from spec.wire.request_code import RequestCode


def command(
    code: int,
    fields: Mapping[str, object] | None = None,
    body: bytes = b"",
    flag: int = 0,
) -> Command:
    """Return a client's request; fields that are None are left out."""
    given = (fields or {}).items()
    return Command(
        code=code,
        flag=flag,
        language=LANGUAGE,
        version=RELEASE_ORDINAL,
        fields={name: str(value) for name, value in given if value is not None},
        body=body,
    )


def route_question(topic: str) -> Command:
    """Return the request for the route of *topic*."""
    return command(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})

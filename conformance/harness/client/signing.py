"""Signatures of requests, as the client of a release makes them."""

from __future__ import annotations

from dataclasses import replace

from spec.clause import release_key
from spec.security.signature import (
    ACCESS_KEY,
    LAST_UNSIGNED_VERSION,
    Credentials,
    signed_fields,
)
from spec.wire.consumer.query import UNIQUE_KEY_FIELD
from spec.wire.remoting.command import Command

FIRST_WITHOUT_FLAG, FIRST_BY_VERSION = (4, 7), (5,)


def signed(command: Command, credentials: Credentials, release: str) -> Command:
    """Return *command* with the signature that a broker of *release* admits.

    A signed request and a response stay as they are.
    """
    if command.is_response or ACCESS_KEY in command.fields:
        return command
    # Whether the flag of queries by unique key is signed: SEC-SIGN-008 to -010.
    is_late = bool(release) and release_key(release) >= FIRST_WITHOUT_FLAG
    by_version = is_late and release_key(release) >= FIRST_BY_VERSION
    leaves_out = command.version <= LAST_UNSIGNED_VERSION if by_version else is_late
    left_out = {UNIQUE_KEY_FIELD} if leaves_out else set()
    content = {k: v for k, v in command.fields.items() if k not in left_out}
    fields = signed_fields(content, command.body, credentials)
    return replace(command, fields={**command.fields, **fields})

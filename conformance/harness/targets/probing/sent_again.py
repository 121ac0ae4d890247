"""
Requests of a test that are sent again without fields, apart from its own frames.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from urllib.parse import parse_qsl

from conformance.harness.client.access import Access, access_of
from conformance.harness.client.address import Address
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.targets.probing.probe_requests import ProbeRequests, bare
from spec.wire.remoting.request_code import RequestCode

KNOWN_CODES = frozenset(map(int, RequestCode))
FindCodes = Callable[[Address, ProbeRequests, Access], list[int]]
"""Sends requests to a peer, and returns the codes of those with some result."""


@functools.cache
def is_found_again(find: FindCodes, peer: str, code: int, access: str) -> bool:
    """Return whether *find* returns *code* when *peer* gets it again without fields.

    *access* has the settings of the clients, as the query of an address.
    """
    settings = access_of(dict(parse_qsl(access)))
    with CONVERSATIONS.apart():
        return bool(find(Address.parse(peer), bare([code]), settings))

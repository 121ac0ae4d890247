"""
Replies that a broker pushes to a producer whose message asked for one (since 4.6).

This producer asks for none, so nobody waits; whoever replied is told all the same that
the reply has arrived.
"""

from __future__ import annotations

from reference.core.answer import Answer
from reference.core.request import Request


def take_reply(_address: str, _request: Request, _now_ms: int) -> Answer:
    """Take a reply that nobody waits for."""
    # [CLIENT-REQUEST-006]
    return Answer()

"""
Failures of tests that expect an address, where a port forward hides it.

A target whose text states another address than the registered one may be behind a
forward. Its broker reports the registered address as its own, and the forward's as the
address of the suite's connections. Tests of a proxy expect the addresses of both.
"""

from __future__ import annotations

import re

from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.targets.target import Target


def hidden_address(target: Target, expected: str) -> str:
    """Return why the running test has no verdict; empty if *expected* has no address.

    *expected* are the values that the test expected. A port stands for its address.
    """
    if target.registered is None:
        return ""
    ends = [str(target.broker)]
    ends += [transcript.local for transcript in CONVERSATIONS.transcripts()]
    ports = {end.rpartition(":")[2] for end in ends}
    if ports.isdisjoint(re.findall(r"\d+", expected)):
        return ""
    return (
        f"it expects an address, and {target.broker} is not the registered one"
        f" ({target.registered})"
    )

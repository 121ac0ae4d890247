"""Requests on one connection: one response each, in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.expectations import expect_that
from spec.wire.remoting.command import Command

IN_TIME_S = 3.0
ATTEMPTS = 3
"""A busy machine may be late once."""

Send = Callable[[], Command]


def responses_in_time(
    clause: str, client: Client, sends: Mapping[str, Send]
) -> list[tuple[str, Command]]:
    """Send each request, and return its name with each response to it.

    A request is sent again, up to ATTEMPTS times, while its response comes late. Fails
    *clause* if none came in time.
    """
    found: list[tuple[str, Command]] = []
    for name, send in sends.items():
        took_s: list[float] = []
        while len(took_s) < ATTEMPTS and min(took_s, default=IN_TIME_S) >= IN_TIME_S:
            begun = time.monotonic()
            response = send()
            took_s.append(time.monotonic() - begun)
            found.append((name, response))
        expect_that(
            clause,
            min(took_s) < IN_TIME_S,
            found=f"{min(took_s):.1f} s",
            expected=f"less than {IN_TIME_S:g} s",
            what=f"time until the response to {name}",
            transcript=client.transcript,
        )
    return found


def second_responses(
    client: Client, names: Mapping[int, str], quiet_s: float
) -> list[str]:
    """Return the requests whose response comes again before *quiet_s* of silence.

    *names* has the name of each request by its opaque.
    """
    more = client.peer.receive_until_silent(quiet_s)
    return [names.get(one.opaque, "none of them") for one in more]

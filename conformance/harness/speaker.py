"""
A speaker knows the everyday requests and asks one peer over one connection.

Each method is one request with keyword-only arguments and returns the answer as it
came, success or not, so that a test can judge it. The subjects are in
:mod:`conformance.harness.asks`; the names here are what suites import.
"""

from __future__ import annotations

from conformance.harness.asks.admin import AdminAsker
from conformance.harness.asks.asker import (
    RefusedError,
    body_of,
    json_body,
    request,
    succeeded,
)
from conformance.harness.asks.groups import (
    GroupAsker,
    consumer_data,
    queue_data,
    subscription_data,
)
from conformance.harness.asks.messages import (
    MessageAsker,
    batch_body,
    now_ms,
    plain_send,
)
from conformance.harness.asks.offsets import OffsetAsker
from conformance.harness.asks.queries import QueryAsker
from conformance.harness.asks.routes import (
    RouteAsker,
    registration_body,
    topic_config,
)


class Speaker(
    MessageAsker, OffsetAsker, QueryAsker, GroupAsker, AdminAsker, RouteAsker
):
    """All requests. A name server and a broker each know their own part of them."""


__all__ = [
    "RefusedError",
    "Speaker",
    "batch_body",
    "body_of",
    "consumer_data",
    "json_body",
    "now_ms",
    "plain_send",
    "queue_data",
    "registration_body",
    "request",
    "subscription_data",
    "succeeded",
    "topic_config",
]

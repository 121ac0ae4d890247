"""
Client of a target: all requests over one connection.

Each method is one request with keyword-only arguments. It returns the response as
received, success or error, so that a test can compare it. The requests are grouped by
subject in :mod:`conformance.harness.client.requests`; suites import the names of this
module.
"""

from __future__ import annotations

from conformance.harness.client.requests.admin import AdminRequests
from conformance.harness.client.requests.groups import (
    GroupRequests,
    consumer_data,
    queue_data,
    subscription_data,
    tags_subscription,
)
from conformance.harness.client.requests.invoker import (
    RefusedError,
    body_of,
    json_body,
    request,
    require_success,
)
from conformance.harness.client.requests.messages import (
    MessageRequests,
    batch_body,
    now_ms,
    plain_send,
)
from conformance.harness.client.requests.offsets import OffsetRequests
from conformance.harness.client.requests.pops import PopRequests
from conformance.harness.client.requests.queries import QueryRequests
from conformance.harness.client.requests.routes import RouteRequests


class Client(
    MessageRequests,
    OffsetRequests,
    PopRequests,
    QueryRequests,
    GroupRequests,
    AdminRequests,
    RouteRequests,
):
    """Client with all requests, those of name servers and those of brokers."""


__all__ = [
    "Client",
    "RefusedError",
    "batch_body",
    "body_of",
    "consumer_data",
    "json_body",
    "now_ms",
    "plain_send",
    "queue_data",
    "request",
    "require_success",
    "subscription_data",
    "tags_subscription",
]

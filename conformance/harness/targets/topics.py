"""Creation of topics and groups on a target, at the address that creates them."""

from __future__ import annotations

from typing import Any

from conformance.harness.targets.target import Target
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

ANY_TYPE = "+message.type=MIXED"
"""Attribute of a topic that takes normal, delayed and half messages from a proxy.

Only proxies check it (5.3.3 DefaultTopicMessageTypeValidator), and brokers before 5.0
ignore attributes.
"""


def request_topic(target: Target, name: str, **config: Any) -> Command:
    """Request a topic for messages of any type, and return the response.

    *config* is the rest of its configuration, as ``Client.create_topic`` has it.
    """
    attributes = ANY_TYPE if target.admin is not None else None
    with target.connect_for_admin() as broker:
        response = broker.create_topic(topic=name, **config, attributes=attributes)
        if attributes and response.code == ResponseCode.INVALID_PARAMETER:
            # A broker with enableMixedMessageType=false refuses the attribute.
            response = broker.create_topic(topic=name, **config)
    return response


def request_group(target: Target, name: str, **settings: Any) -> Command:
    """Request a subscription group, and return the response."""
    with target.connect_for_admin() as broker:
        return broker.update_group(group=name, settings=settings)

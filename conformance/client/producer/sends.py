"""
Requests with messages at scripted brokers.
"""

from __future__ import annotations

from typing import Any

from conformance.client.application import Application
from conformance.client.scripted.scripted_broker import SENDS, ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ReceivedRequest, Script, each

SHORT_MS = 400
"""Timeout of sends without a response."""


def meet_sends(broker: ScriptedBroker, script: Script) -> None:
    """Let *broker* meet every request with messages by *script*."""
    for code in SENDS:
        broker.on(code, script)


def sent_after(
    application: Application,
    broker: ScriptedBroker,
    topic: str,
    first: Script,
    **how: Any,
) -> tuple[object, int]:
    """Send a message whose first attempt meets *first*, and every other is stored.

    Return the word that the application receives, and how many attempts there were.
    """
    meet_sends(broker, each(first, broker.store))
    outcome = application.producer().send(topic, **how)
    return outcome.word, len(broker.sends)


def two_brokers(cluster: ScriptedCluster, topic: str) -> list[ScriptedBroker]:
    """Return two brokers that have two queues each."""
    cluster.route(topic, {"broker-a": 2, "broker-b": 2})
    return [cluster.broker("broker-a"), cluster.broker("broker-b")]


def all_sends(cluster: ScriptedCluster) -> list[ReceivedRequest]:
    """Return the requests with messages to any broker, in their order."""
    found = [one for broker in cluster.brokers.values() for one in broker.sends]
    return sorted(found, key=lambda one: one.at_ms)

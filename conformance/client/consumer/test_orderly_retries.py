"""Orderly retries of a message that a consumer can never handle."""

from __future__ import annotations

import pytest

from conformance.client.application import Application
from conformance.client.consumer.pulls import expect_bodies, one_queue
from conformance.client.scripted.scripted_broker import header_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.wire.message.properties import decode_properties


@pytest.mark.clause("CLIENT-ORDERLY-005")
def test_each_time_a_message_has_failed_once_more(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    broker.put(topic, b"bad", KEYS="k")
    consumer = application.consumer(
        topic, order="orderly", outcomes={"k": ["later", "fail"]}
    )
    found = [one["reconsume_times"] for one in consumer.wait_for(3)]
    expect("CLIENT-ORDERLY-005", found=found, expected=[0, 1, 2], what="counts")


@pytest.mark.clause("CLIENT-ORDERLY-006")
def test_what_fails_too_often_in_order_is_sent_to_the_retry_topic(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    group = unique_name("group")
    broker = one_queue(cluster, topic)
    cluster.route(f"%RETRY%{group}", {"broker-a": 1})
    broker.put(topic, b"bad", KEYS="k")
    broker.put(topic, b"good")
    consumer = application.consumer(
        topic,
        group=group,
        order="orderly",
        outcomes={"k": ["later", "later"]},
        options={"max_reconsume": 1},
    )
    expect_bodies("CLIENT-ORDERLY-006", consumer, b"bad", b"bad", b"good")
    found = [(header_of(one)["topic"], one.command.body) for one in broker.sends]
    expect(
        "CLIENT-ORDERLY-006",
        found=found,
        expected=[(f"%RETRY%{group}", b"bad")],
        what="topics and bodies that were sent",
    )
    properties = decode_properties(header_of(broker.sends[0])["properties"])
    expect_fields(
        "CLIENT-ORDERLY-006",
        found=properties,
        expected={"RETRY_TOPIC": topic, "MAX_RECONSUME_TIMES": "1"},
    )
    expect_that(
        "CLIENT-ORDERLY-006",
        properties.get("RECONSUME_TIME") in {"1", "2"},
        found=properties.get("RECONSUME_TIME"),
        expected="1, since 5.x 2",
        what="RECONSUME_TIME",
    )

"""Requests of many codes on one connection: one response each, in time, well formed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

import pytest

from conformance.harness.client.client import Client, batch_body, now_ms
from conformance.harness.header_tables import known_codes
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from conformance.harness.pytest_plugin.one_response import (
    Send,
    responses_in_time,
    second_responses,
)
from conformance.harness.targets.target import Target
from conformance.wire.server import QUIET_S
from spec.wire.remoting.command import Command
from spec.wire.remoting.language import LanguageCode
from spec.wire.remoting.request_code import RequestCode

OF_BROKER: Mapping[RequestCode, str] = {
    RequestCode.QUERY_MESSAGE: "topic key maxNum beginTimestamp endTimestamp",
    RequestCode.QUERY_CONSUMER_OFFSET: "consumerGroup topic queueId",
    RequestCode.UPDATE_CONSUMER_OFFSET: "consumerGroup topic queueId commitOffset",
    RequestCode.GET_ALL_TOPIC_CONFIG: "",
    RequestCode.GET_BROKER_CONFIG: "",
    RequestCode.GET_BROKER_RUNTIME_INFO: "",
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: "topic queueId timestamp",
    RequestCode.GET_MAX_OFFSET: "topic queueId",
    RequestCode.GET_MIN_OFFSET: "topic queueId",
    RequestCode.GET_EARLIEST_MSG_STORETIME: "topic queueId",
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: "consumerGroup",
    RequestCode.GET_ALL_CONSUMER_OFFSET: "",
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: "",
    RequestCode.GET_TOPIC_STATS_INFO: "topic",
    RequestCode.GET_CONSUMER_CONNECTION_LIST: "consumerGroup",
    RequestCode.GET_PRODUCER_CONNECTION_LIST: "producerGroup",
    RequestCode.GET_CONSUME_STATS: "consumerGroup topic",
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: "topic",
    RequestCode.QUERY_CONSUME_TIME_SPAN: "topic group",
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: "",
    RequestCode.CHECK_CLIENT_CONFIG: "",
    RequestCode.VIEW_MESSAGE_BY_ID: "",
    RequestCode.VIEW_BROKER_STATS_DATA: "",
    RequestCode.QUERY_CORRECTION_OFFSET: "topic",
    RequestCode.QUERY_CONSUME_QUEUE: "topic queueId",
    RequestCode.GET_ALL_DELAY_OFFSET: "",
    RequestCode.GET_BROKER_CONSUME_STATS: "",
    RequestCode.GET_CONSUMER_RUNNING_INFO: "consumerGroup",
    RequestCode.CONSUMER_SEND_MSG_BACK: "",
    RequestCode.SEND_MESSAGE: "",
    RequestCode.SEND_REPLY_MESSAGE: "",
    RequestCode.SEND_REPLY_MESSAGE_V2: "",
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: "topic group timestamp isForce",
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: "topic group",
    RequestCode.CONSUME_MESSAGE_DIRECTLY: "consumerGroup",
    RequestCode.CLONE_GROUP_OFFSET: "",
    RequestCode.END_TRANSACTION: "",
    RequestCode.RESUME_CHECK_HALF_MESSAGE: "",
    RequestCode.REGISTER_FILTER_SERVER: "",
    RequestCode.UPDATE_BROKER_CONFIG: "",
    RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: "",
    RequestCode.DELETE_ACL_CONFIG: "",
    RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: "",
    RequestCode.DELETE_SUBSCRIPTIONGROUP: "groupName",
    RequestCode.DELETE_TOPIC_IN_BROKER: "topic",
}
"""Requests to a broker, each with the names of its fields."""
OF_RESTARTED_BROKER = (
    RequestCode.VIEW_MESSAGE_BY_ID,
    RequestCode.GET_MAX_OFFSET,
    RequestCode.GET_MIN_OFFSET,
    RequestCode.QUERY_CONSUMER_OFFSET,
    RequestCode.GET_ALL_TOPIC_CONFIG,
    RequestCode.GET_ALL_CONSUMER_OFFSET,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    RequestCode.END_TRANSACTION,
)
OF_NAME_SERVER: Mapping[RequestCode, str] = {
    RequestCode.GET_KV_CONFIG: "namespace key",
    RequestCode.GET_KVLIST_BY_NAMESPACE: "namespace",
    RequestCode.GET_ROUTEINFO_BY_TOPIC: "topic",
    RequestCode.GET_BROKER_CLUSTER_INFO: "",
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: "",
    RequestCode.GET_TOPICS_BY_CLUSTER: "cluster",
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: "",
    RequestCode.QUERY_DATA_VERSION: "",
    RequestCode.GET_UNIT_TOPIC_LIST: "",
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: "",
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: "",
    RequestCode.GET_NAMESRV_CONFIG: "",
    RequestCode.UNREGISTER_BROKER: "",
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: "",
    RequestCode.UPDATE_NAMESRV_CONFIG: "",
}
"""The same to a name server."""


def fields_for(topic: str, group: str, cluster: str) -> Mapping[str, str]:
    """Return the value of each field of all these requests."""
    return {
        "topic": topic,
        "queueId": "0",
        "timestamp": "0",
        "consumerGroup": group,
        "producerGroup": group,
        "group": group,
        "groupName": group,
        "isForce": "true",
        "key": "none",
        "maxNum": "1",
        "beginTimestamp": "0",
        "endTimestamp": str(now_ms()),
        "commitOffset": "0",
        "namespace": "none",
        "cluster": cluster,
    }


def expect_one_each(client: Client, sends: Mapping[str, Send]) -> None:
    """Send each request, and fail the clauses unless it has one response, in time."""
    responses = responses_in_time("WIRE-COMMAND-012", client, sends)
    for name, response in responses:
        expect_that(
            "WIRE-JSON-005",
            response.language in LanguageCode.__members__,
            found=response.language,
            expected="a LanguageCode",
            what=f"language of the response to {name}",
            transcript=client.transcript,
        )
    versions = {name: response.version for name, response in responses}
    expect(
        "WIRE-CONN-014",
        found=versions,
        expected=dict.fromkeys(versions, responses[0][1].version),
        what="version of each response: that of the first",
        transcript=client.transcript,
    )
    names = {response.opaque: name for name, response in responses}
    expect(
        "WIRE-COMMAND-011",
        found=second_responses(client, names, QUIET_S),
        expected=[],
        what="requests with a second response",
        transcript=client.transcript,
    )


def _plain_sends(
    client: Client, codes: Collection[RequestCode], fields: Mapping[str, str]
) -> dict[str, Send]:
    """Return requests of *codes* by name, each with its fields of *fields*."""
    named = {**OF_BROKER, **OF_NAME_SERVER}
    requests = (
        Command(code=code, fields={name: fields[name] for name in named[code].split()})
        for code in codes
    )
    return {
        code.name: partial(client.peer.request, request)
        for code, request in zip(codes, requests, strict=True)
    }


@pytest.mark.clause(
    "WIRE-COMMAND-011", "WIRE-COMMAND-012", "WIRE-CONN-014", "WIRE-JSON-005"
)
def test_a_broker_sends_one_response_each(
    broker: Client, target: Target, topic: str, group: str
) -> None:
    fields = fields_for(topic, group, target.cluster)
    known = known_codes(target.release)
    sends: dict[str, Send] = {
        "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP": lambda: broker.update_group(group=group),
        "UPDATE_AND_CREATE_TOPIC": lambda: broker.create_topic(topic=topic),
        "SEND_MESSAGE_V2": lambda: broker.send_message(topic=topic),
        "SEND_BATCH_MESSAGE": lambda: broker.send_batch(
            topic=topic, body=batch_body([(b"a", {})])
        ),
        "PULL_MESSAGE": lambda: broker.pull(topic=topic, offset=0),
        "HEART_BEAT": lambda: broker.heartbeat(
            client_id=f"{group}@1", producer_groups=[group]
        ),
        "LOCK_BATCH_MQ": lambda: broker.lock_queues(
            group=group, client_id=f"{group}@1", queues=[]
        ),
        "UNLOCK_BATCH_MQ": lambda: broker.unlock_queues(
            group=group, client_id=f"{group}@1", queues=[]
        ),
        **_plain_sends(broker, [code for code in OF_BROKER if code in known], fields),
    }
    sends["UNREGISTER_CLIENT"] = lambda: broker.unregister_client(
        client_id=f"{group}@1", producer_group=group
    )
    expect_one_each(broker, sends)


@pytest.mark.clause(
    "WIRE-COMMAND-011", "WIRE-COMMAND-012", "WIRE-CONN-014", "WIRE-JSON-005"
)
def test_a_name_server_sends_one_response_each(
    namesrv: Client,
    target: Target,
    topic: str,
    group: str,
    unique: Callable[[str], str],
) -> None:
    fields = fields_for(topic, group, target.cluster)
    space = unique("space")
    sends: dict[str, Send] = {
        "PUT_KV_CONFIG": lambda: namesrv.put_kv(namespace=space, key="k", value="v"),
        "DELETE_KV_CONFIG": lambda: namesrv.delete_kv(namespace=space, key="k"),
        "DELETE_TOPIC_IN_NAMESRV": lambda: namesrv.delete_topic_in_namesrv(space),
        **_plain_sends(namesrv, OF_NAME_SERVER, fields),
    }
    expect_one_each(namesrv, sends)


@pytest.mark.long
@pytest.mark.needs("wire", "restart")
@pytest.mark.clause(
    "WIRE-COMMAND-011", "WIRE-COMMAND-012", "WIRE-CONN-014", "WIRE-JSON-005"
)
def test_restarted_servers_send_one_response_each(start_target: TargetStarter) -> None:
    own = start_target()
    topic, group = create_topic(own, unique_name("topic")), unique_name("group")
    own.restart()
    fields = fields_for(topic, group, own.cluster)
    with own.connect_to_broker() as broker:
        sends: dict[str, Send] = {
            "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP": lambda: broker.update_group(
                group=group
            ),
            "SEND_MESSAGE_V2": lambda: broker.send_message(topic=topic),
            "PULL_MESSAGE": lambda: broker.pull(topic=topic, offset=0),
            "HEART_BEAT": lambda: broker.heartbeat(
                client_id=f"{group}@1", producer_groups=[group]
            ),
            **_plain_sends(broker, OF_RESTARTED_BROKER, fields),
        }
        expect_one_each(broker, sends)
    with own.connect_to_namesrv() as namesrv:
        codes = (RequestCode.GET_BROKER_CLUSTER_INFO, RequestCode.GET_KV_CONFIG)
        expect_one_each(namesrv, _plain_sends(namesrv, codes, fields))

"""The name server's table of texts, and what order topics make of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.routing.fake_broker import Stage
from conformance.strategies.routes import key_value_texts
from spec.routing.kv_config import ORDER_TOPIC_NAMESPACE, decode_key_value_table
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def table_of(stage: Stage, namespace: str) -> dict[str, str]:
    """Return all keys and values of *namespace*."""
    answer = stage.client.kv_list(namespace=namespace)
    require_success(answer)
    return dict(decode_key_value_table(answer.body).values)


@pytest.mark.clause("ROUTE-KV-001", "ROUTE-KV-004")
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(key=key_value_texts(), value=key_value_texts())
def test_any_text_is_got_as_it_was_put(stage: Stage, key: str, value: str) -> None:
    namespace = stage.unique("namespace")
    stage.client.put_kv(namespace=namespace, key=key, value="overwritten")
    stage.client.put_kv(namespace=namespace, key=key, value=value)
    answer = stage.client.get_kv(namespace=namespace, key=key)
    expect(
        "ROUTE-KV-001",
        found=(answer.code, answer.fields.get("value")),
        expected=(ResponseCode.SUCCESS, value),
        what="code, value",
        transcript=stage.client.transcript,
    )
    expect(
        "ROUTE-KV-004",
        found=table_of(stage, namespace),
        expected={key: value},
        what="keys and values of the namespace",
        transcript=stage.client.transcript,
    )
    stage.client.delete_kv(namespace=namespace, key=key)


@pytest.mark.clause("ROUTE-KV-001")
def test_an_empty_value_is_got_as_it_was_put(stage: Stage) -> None:
    fields = {"namespace": stage.unique("namespace"), "key": "a"}
    put = stage.client.put_kv(**fields, value="")
    got = stage.client.get_kv(**fields)
    expect(
        "ROUTE-KV-001",
        found=(put.code, got.code, got.fields.get("value")),
        expected=(ResponseCode.SUCCESS, ResponseCode.SUCCESS, ""),
        what="codes of put and get, value",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-004")
def test_namespaces_do_not_share_keys(stage: Stage) -> None:
    first, second = stage.unique("namespace"), stage.unique("namespace")
    stage.client.put_kv(namespace=first, key="a", value="1")
    stage.client.put_kv(namespace=first, key="b", value="2")
    stage.client.put_kv(namespace=second, key="a", value="3")
    expect(
        "ROUTE-KV-004",
        found=(table_of(stage, first), table_of(stage, second)),
        expected=({"a": "1", "b": "2"}, {"a": "3"}),
        what="both namespaces",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-002", "ROUTE-KV-003")
def test_a_deleted_key_is_not_found(stage: Stage) -> None:
    namespace = stage.unique("namespace")
    unknown = stage.client.get_kv(namespace=namespace, key="a")
    expect(
        "ROUTE-KV-002",
        found=unknown.code,
        expected=ResponseCode.QUERY_NOT_FOUND,
        what="code for a key that nobody put",
        transcript=stage.client.transcript,
    )
    stage.client.put_kv(namespace=namespace, key="a", value="1")
    codes = [stage.client.delete_kv(namespace=namespace, key="a").code for _ in "12"]
    deleted = stage.client.get_kv(namespace=namespace, key="a")
    expect(
        "ROUTE-KV-003",
        found=(codes, deleted.code),
        expected=([ResponseCode.SUCCESS] * 2, ResponseCode.QUERY_NOT_FOUND),
        what="codes of deleting twice, code of getting afterwards",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-005", "ROUTE-KV-006")
def test_a_namespace_outlives_its_last_key(stage: Stage) -> None:
    namespace = stage.unique("namespace")
    unknown = stage.client.kv_list(namespace=namespace)
    expect(
        "ROUTE-KV-005",
        found=unknown.code,
        expected=ResponseCode.QUERY_NOT_FOUND,
        what="code for a namespace that nobody used",
        transcript=stage.client.transcript,
    )
    stage.client.put_kv(namespace=namespace, key="a", value="1")
    stage.client.delete_kv(namespace=namespace, key="a")
    expect(
        "ROUTE-KV-006",
        found=table_of(stage, namespace),
        expected={},
        what="namespace after its last key was deleted",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-007")
def test_a_registration_is_answered_with_the_order_topics(stage: Stage) -> None:
    topic = stage.unique("topic")
    value = "broker-a:4;broker-b:4"
    stage.client.put_kv(namespace=ORDER_TOPIC_NAMESPACE, key=topic, value=value)
    answer = stage.broker().register()
    stage.client.delete_kv(namespace=ORDER_TOPIC_NAMESPACE, key=topic)
    table = decode_key_value_table(answer.body).values if answer.body else {}
    expect(
        "ROUTE-KV-007",
        found=table.get(topic),
        expected=value,
        what="value for the topic in the body of the answer",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause(
    "ROUTE-KV-008", "ROUTE-KV-009", "ROUTE-CONFIG-001", "ROUTE-CONFIG-002"
)
@pytest.mark.needs("config")
@pytest.mark.restores
def test_a_route_has_its_order_only_when_the_name_server_is_told(stage: Stage) -> None:
    topic = TopicConfig(topic=stage.unique("topic"))
    order = "broker-a:4"
    stage.broker().register(topic)
    client = stage.client
    client.put_kv(namespace=ORDER_TOPIC_NAMESPACE, key=topic.topic, value=order)
    before = stage.route(topic.topic)
    set_config(stage, "orderMessageEnable=true")
    try:
        after = stage.route(topic.topic)
        config = client.namesrv_config().body.decode().splitlines()
    finally:
        set_config(stage, "orderMessageEnable=false")
        client.delete_kv(namespace=ORDER_TOPIC_NAMESPACE, key=topic.topic)
    restored = stage.route(topic.topic)
    assert before is not None
    assert after is not None
    assert restored is not None
    expect(
        "ROUTE-KV-008",
        found=(before.order_topic_config, restored.order_topic_config),
        expected=(None, None),
        what="orderTopicConf before and after orderMessageEnable",
        transcript=client.transcript,
    )
    expect(
        "ROUTE-KV-009",
        found=after.order_topic_config,
        expected=order,
        what="orderTopicConf with orderMessageEnable",
        transcript=client.transcript,
    )
    expect(
        "ROUTE-CONFIG-001",
        found="orderMessageEnable=true" in config,
        expected=True,
        what="the settings have the line orderMessageEnable=true",
        transcript=client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-008", "ROUTE-CONFIG-001")
@pytest.mark.namesrv_settings(orderMessageEnable="false")
def test_a_route_has_no_order_by_default(stage: Stage) -> None:
    topic = TopicConfig(topic=stage.unique("topic"))
    stage.broker().register(topic)
    key = {"namespace": ORDER_TOPIC_NAMESPACE, "key": topic.topic}
    stage.client.put_kv(**key, value="broker-a:4")
    route = stage.route(topic.topic)
    stage.client.delete_kv(**key)
    expect(
        "ROUTE-KV-008",
        found=route and route.order_topic_config,
        expected=None,
        what="orderTopicConf",
        transcript=stage.client.transcript,
    )
    expect(
        "ROUTE-CONFIG-001",
        found=stage.client.namesrv_settings().get("orderMessageEnable"),
        expected="false",
        what="orderMessageEnable",
        transcript=stage.client.transcript,
    )


def set_config(stage: Stage, lines: str) -> None:
    """Change settings of the name server."""
    code = RequestCode.UPDATE_NAMESRV_CONFIG
    answer = stage.client.peer.request(Command(code=code, body=lines.encode()))
    expect(
        "ROUTE-CONFIG-002",
        found=answer.code,
        expected=ResponseCode.SUCCESS,
        what="code of the answer to an update",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-CONFIG-002")
@pytest.mark.needs("config")
@pytest.mark.restores
@pytest.mark.namesrv_settings(productEnvName="center")
def test_an_update_leaves_other_settings_alone(stage: Stage) -> None:
    before = stage.client.namesrv_config().body.decode().splitlines()
    set_config(stage, "productEnvName=another")
    try:
        after = stage.client.namesrv_config().body.decode().splitlines()
    finally:
        set_config(stage, "productEnvName=center")
    expect(
        "ROUTE-CONFIG-002",
        found=sorted(
            line
            for line in set(after) ^ set(before)
            if not line.startswith("orderMessageEnable=")
        ),
        expected=["productEnvName=another", "productEnvName=center"],
        what="lines that differ",
        transcript=stage.client.transcript,
    )


def put(stage: Stage, **fields: str) -> int:
    """Put with just these fields and return the answer's code."""
    command = Command(code=RequestCode.PUT_KV_CONFIG, fields=fields)
    return stage.client.peer.request(command).code


@pytest.mark.clause("ROUTE-KV-010")
def test_a_put_without_a_name_is_refused(stage: Stage) -> None:
    namespace = stage.unique("namespace")
    codes = [put(stage, namespace=namespace, value="v"), put(stage, key="k", value="v")]
    expect(
        "ROUTE-KV-010",
        found=codes,
        expected=[ResponseCode.SYSTEM_ERROR] * 2,
        what="codes without a key and without a namespace",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-011")
def test_a_put_without_a_key_is_kept_under_null(stage: Stage) -> None:
    namespace = stage.unique("namespace")
    code = put(stage, namespace=namespace, value="v")
    expect(
        "ROUTE-KV-011",
        found=(code, stage.client.kv_list(namespace=namespace).body),
        expected=(ResponseCode.SUCCESS, b'{"table":{null:"v"}}'),
        what="code, list of the namespace",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-012")
def test_a_put_without_a_value_puts_nothing_to_find(stage: Stage) -> None:
    namespace = stage.unique("namespace")
    code = put(stage, namespace=namespace, key="k")
    found = stage.client.get_kv(namespace=namespace, key="k")
    expect(
        "ROUTE-KV-012",
        found=(code, found.code),
        expected=(ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND),
        what="codes of the put and of the get",
        transcript=stage.client.transcript,
    )

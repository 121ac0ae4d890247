"""The name server's table of texts, and what order topics make of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.routing.fake_broker import FakeCluster
from conformance.strategies.routes import key_value_texts
from spec.routing.kv_config import ORDER_TOPIC_NAMESPACE, decode_key_value_table
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def table_of(fake_cluster: FakeCluster, namespace: str) -> dict[str, str]:
    """Return all keys and values of *namespace*."""
    response = fake_cluster.client.kv_list(namespace=namespace)
    require_success(response)
    return dict(decode_key_value_table(response.body).values)


@pytest.mark.clause("ROUTE-KV-001", "ROUTE-KV-004")
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(key=key_value_texts(), value=key_value_texts())
def test_any_text_is_got_as_it_was_put(
    fake_cluster: FakeCluster, key: str, value: str
) -> None:
    namespace = fake_cluster.unique("namespace")
    fake_cluster.client.put_kv(namespace=namespace, key=key, value="overwritten")
    fake_cluster.client.put_kv(namespace=namespace, key=key, value=value)
    response = fake_cluster.client.get_kv(namespace=namespace, key=key)
    expect(
        "ROUTE-KV-001",
        found=(response.code, response.fields.get("value")),
        expected=(ResponseCode.SUCCESS, value),
        what="code, value",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-KV-004",
        found=table_of(fake_cluster, namespace),
        expected={key: value},
        what="keys and values of the namespace",
        transcript=fake_cluster.client.transcript,
    )
    fake_cluster.client.delete_kv(namespace=namespace, key=key)


@pytest.mark.clause("ROUTE-KV-001")
def test_an_empty_value_is_got_as_it_was_put(fake_cluster: FakeCluster) -> None:
    fields = {"namespace": fake_cluster.unique("namespace"), "key": "a"}
    put = fake_cluster.client.put_kv(**fields, value="")
    got = fake_cluster.client.get_kv(**fields)
    expect(
        "ROUTE-KV-001",
        found=(put.code, got.code, got.fields.get("value")),
        expected=(ResponseCode.SUCCESS, ResponseCode.SUCCESS, ""),
        what="codes of put and get, value",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-004")
def test_namespaces_do_not_share_keys(fake_cluster: FakeCluster) -> None:
    first, second = fake_cluster.unique("namespace"), fake_cluster.unique("namespace")
    fake_cluster.client.put_kv(namespace=first, key="a", value="1")
    fake_cluster.client.put_kv(namespace=first, key="b", value="2")
    fake_cluster.client.put_kv(namespace=second, key="a", value="3")
    expect(
        "ROUTE-KV-004",
        found=(table_of(fake_cluster, first), table_of(fake_cluster, second)),
        expected=({"a": "1", "b": "2"}, {"a": "3"}),
        what="both namespaces",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-002", "ROUTE-KV-003")
def test_a_deleted_key_is_not_found(fake_cluster: FakeCluster) -> None:
    namespace = fake_cluster.unique("namespace")
    unknown = fake_cluster.client.get_kv(namespace=namespace, key="a")
    expect(
        "ROUTE-KV-002",
        found=unknown.code,
        expected=ResponseCode.QUERY_NOT_FOUND,
        what="code for a key that nobody put",
        transcript=fake_cluster.client.transcript,
    )
    fake_cluster.client.put_kv(namespace=namespace, key="a", value="1")
    codes = [
        fake_cluster.client.delete_kv(namespace=namespace, key="a").code for _ in "12"
    ]
    deleted = fake_cluster.client.get_kv(namespace=namespace, key="a")
    expect(
        "ROUTE-KV-003",
        found=(codes, deleted.code),
        expected=([ResponseCode.SUCCESS] * 2, ResponseCode.QUERY_NOT_FOUND),
        what="codes of deleting twice, code of getting afterwards",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-005", "ROUTE-KV-006")
def test_a_namespace_outlives_its_last_key(fake_cluster: FakeCluster) -> None:
    namespace = fake_cluster.unique("namespace")
    unknown = fake_cluster.client.kv_list(namespace=namespace)
    expect(
        "ROUTE-KV-005",
        found=unknown.code,
        expected=ResponseCode.QUERY_NOT_FOUND,
        what="code for a namespace that nobody used",
        transcript=fake_cluster.client.transcript,
    )
    fake_cluster.client.put_kv(namespace=namespace, key="a", value="1")
    fake_cluster.client.delete_kv(namespace=namespace, key="a")
    expect(
        "ROUTE-KV-006",
        found=table_of(fake_cluster, namespace),
        expected={},
        what="namespace after its last key was deleted",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-007")
def test_a_registration_is_answered_with_the_order_topics(
    fake_cluster: FakeCluster,
) -> None:
    topic = fake_cluster.unique("topic")
    value = "broker-a:4;broker-b:4"
    fake_cluster.client.put_kv(namespace=ORDER_TOPIC_NAMESPACE, key=topic, value=value)
    response = fake_cluster.broker().register()
    fake_cluster.client.delete_kv(namespace=ORDER_TOPIC_NAMESPACE, key=topic)
    table = decode_key_value_table(response.body).values if response.body else {}
    expect(
        "ROUTE-KV-007",
        found=table.get(topic),
        expected=value,
        what="value for the topic in the body of the answer",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause(
    "ROUTE-KV-008", "ROUTE-KV-009", "ROUTE-CONFIG-001", "ROUTE-CONFIG-002"
)
@pytest.mark.needs("config")
@pytest.mark.restores
def test_a_route_has_its_order_only_when_the_name_server_is_told(
    fake_cluster: FakeCluster,
) -> None:
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    order = "broker-a:4"
    fake_cluster.broker().register(topic)
    client = fake_cluster.client
    client.put_kv(namespace=ORDER_TOPIC_NAMESPACE, key=topic.topic, value=order)
    before = fake_cluster.route(topic.topic)
    set_config(fake_cluster, "orderMessageEnable=true")
    try:
        after = fake_cluster.route(topic.topic)
        config = client.namesrv_config().body.decode().splitlines()
    finally:
        set_config(fake_cluster, "orderMessageEnable=false")
        client.delete_kv(namespace=ORDER_TOPIC_NAMESPACE, key=topic.topic)
    restored = fake_cluster.route(topic.topic)
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
def test_a_route_has_no_order_by_default(fake_cluster: FakeCluster) -> None:
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    fake_cluster.broker().register(topic)
    key = {"namespace": ORDER_TOPIC_NAMESPACE, "key": topic.topic}
    fake_cluster.client.put_kv(**key, value="broker-a:4")
    route = fake_cluster.route(topic.topic)
    fake_cluster.client.delete_kv(**key)
    expect(
        "ROUTE-KV-008",
        found=route and route.order_topic_config,
        expected=None,
        what="orderTopicConf",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-CONFIG-001",
        found=fake_cluster.client.namesrv_settings().get("orderMessageEnable"),
        expected="false",
        what="orderMessageEnable",
        transcript=fake_cluster.client.transcript,
    )


def set_config(fake_cluster: FakeCluster, lines: str) -> None:
    """Change settings of the name server."""
    code = RequestCode.UPDATE_NAMESRV_CONFIG
    response = fake_cluster.client.peer.request(Command(code=code, body=lines.encode()))
    expect(
        "ROUTE-CONFIG-002",
        found=response.code,
        expected=ResponseCode.SUCCESS,
        what="code of the answer to an update",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-CONFIG-002")
@pytest.mark.needs("config")
@pytest.mark.restores
@pytest.mark.namesrv_settings(productEnvName="center")
def test_an_update_leaves_other_settings_alone(fake_cluster: FakeCluster) -> None:
    before = config_lines(fake_cluster)
    set_config(fake_cluster, "productEnvName=another")
    try:
        after = config_lines(fake_cluster)
    finally:
        set_config(fake_cluster, "productEnvName=center")
    expect(
        "ROUTE-CONFIG-002",
        found=sorted(after ^ before),
        expected=["productEnvName=another", "productEnvName=center"],
        what="lines that differ",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-CONFIG-002",
        found=sorted(config_lines(fake_cluster) ^ before),
        expected=[],
        what="lines that differ after a second update",
        transcript=fake_cluster.client.transcript,
    )


def config_lines(fake_cluster: FakeCluster) -> set[str]:
    """Return the lines of the name server's settings that other tests leave alone."""
    lines = fake_cluster.client.namesrv_config().body.decode().splitlines()
    return {line for line in lines if not line.startswith("orderMessageEnable=")}


def put(fake_cluster: FakeCluster, **fields: str) -> int:
    """Put with these fields only and return the response's code."""
    command = Command(code=RequestCode.PUT_KV_CONFIG, fields=fields)
    return fake_cluster.client.peer.request(command).code


@pytest.mark.clause("ROUTE-KV-010")
def test_a_put_without_a_name_is_refused(fake_cluster: FakeCluster) -> None:
    namespace = fake_cluster.unique("namespace")
    codes = [
        put(fake_cluster, namespace=namespace, value="v"),
        put(fake_cluster, key="k", value="v"),
    ]
    expect(
        "ROUTE-KV-010",
        found=codes,
        expected=[ResponseCode.SYSTEM_ERROR] * 2,
        what="codes without a key and without a namespace",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-011")
def test_a_put_without_a_key_is_kept_under_null(fake_cluster: FakeCluster) -> None:
    namespace = fake_cluster.unique("namespace")
    code = put(fake_cluster, namespace=namespace, value="v")
    expect(
        "ROUTE-KV-011",
        found=(code, fake_cluster.client.kv_list(namespace=namespace).body),
        expected=(ResponseCode.SUCCESS, b'{"table":{null:"v"}}'),
        what="code, list of the namespace",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-KV-012")
def test_a_put_without_a_value_puts_nothing_to_find(fake_cluster: FakeCluster) -> None:
    namespace = fake_cluster.unique("namespace")
    code = put(fake_cluster, namespace=namespace, key="k")
    found = fake_cluster.client.get_kv(namespace=namespace, key="k")
    expect(
        "ROUTE-KV-012",
        found=(code, found.code),
        expected=(ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND),
        what="codes of the put and of the get",
        transcript=fake_cluster.client.transcript,
    )

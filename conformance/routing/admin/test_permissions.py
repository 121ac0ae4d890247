"""Removal of a broker's write permission, and queries of its data version."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.routing.fake_broker import FakeBroker, Stage, version_query
from spec.routing.topic_config import DataVersion, TopicConfig, decode_data_version
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def permissions(stage: Stage, topic: TopicConfig) -> dict[str, int]:
    """Return the permission of *topic* by broker name."""
    route = stage.route(topic.topic)
    assert route is not None
    return {queues.broker_name: queues.permission for queues in route.queue_datas}


@pytest.mark.clause("ROUTE-PERM-001", "ROUTE-PERM-002")
@pytest.mark.parametrize("permission", [2, 4, 6, 7])
def test_a_wipe_takes_the_write_bit_of_one_broker(
    stage: Stage, permission: int
) -> None:
    topic = TopicConfig(topic=stage.unique("topic"), permission=permission)
    wiped, other = stage.broker(), stage.broker()
    for broker in (wiped, other):
        broker.register(topic)
    answer = stage.client.wipe_write_permission(wiped.name)
    expect(
        "ROUTE-PERM-001",
        found=permissions(stage, topic),
        expected={wiped.name: permission & ~2, other.name: permission},
        what="permissions by broker",
        transcript=stage.client.transcript,
    )
    expect(
        "ROUTE-PERM-002",
        found=(answer.code, answer.fields.get("wipeTopicCount")),
        expected=(ResponseCode.SUCCESS, "3"),
        what="code, wipeTopicCount",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-PERM-002")
def test_an_unknown_broker_has_no_topics_to_wipe(stage: Stage) -> None:
    answer = stage.client.wipe_write_permission(stage.unique("nobody"))
    expect(
        "ROUTE-PERM-002",
        found=(answer.code, answer.fields.get("wipeTopicCount")),
        expected=(ResponseCode.SUCCESS, "0"),
        what="code, wipeTopicCount",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-PERM-003")
def test_a_wipe_lasts_until_a_new_version(stage: Stage) -> None:
    topic = TopicConfig(topic=stage.unique("topic"))
    broker = stage.broker()
    broker.register(topic)
    stage.client.wipe_write_permission(broker.name)
    seen = []
    for register in (broker.register_again, broker.register):
        register(topic)
        seen.append(permissions(stage, topic)[broker.name])
    expect(
        "ROUTE-PERM-003",
        found=seen,
        expected=[4, 6],
        what="permission after the same version, and after a new one",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-PERM-004")
@pytest.mark.parametrize("permission", [1, 4, 7])
def test_adding_the_write_permission_sets_it_to_six(
    stage: Stage, permission: int
) -> None:
    topic = TopicConfig(topic=stage.unique("topic"), permission=permission)
    broker = stage.broker()
    broker.register(topic)
    answer = stage.client.peer.request(
        Command(
            code=RequestCode.ADD_WRITE_PERM_OF_BROKER,
            fields={"brokerName": broker.name},
        )
    )
    expect(
        "ROUTE-PERM-004",
        found=(answer.fields.get("addTopicCount"), permissions(stage, topic)),
        expected=("3", {broker.name: 6}),
        what="addTopicCount, permission",
        transcript=stage.client.transcript,
    )


def query_version(
    stage: Stage, broker: FakeBroker, version: DataVersion
) -> tuple[str | None, DataVersion | None]:
    """Return the response about *version*: whether it changed, and the server's own."""
    answer = stage.client.peer.request(
        version_query(broker.identity, version, stage.release)
    )
    require_success(answer)
    own = decode_data_version(answer.body) if answer.body else None
    return answer.fields.get("changed"), own


@pytest.mark.clause("ROUTE-VERSION-001")
def test_an_unknown_broker_has_changed(stage: Stage) -> None:
    broker = stage.broker()
    expect(
        "ROUTE-VERSION-001",
        found=query_version(stage, broker, broker.version),
        expected=("true", None),
        what="changed, version in the body",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-VERSION-002", "ROUTE-VERSION-003")
def test_only_the_registered_version_has_not_changed(stage: Stage) -> None:
    broker = stage.broker()
    broker.register()
    registered = broker.version
    for version, changed in (
        (registered, "false"),
        (replace(registered, counter=registered.counter + 1), "true"),
        (replace(registered, counter=registered.counter - 1), "true"),
        (replace(registered, timestamp_ms=registered.timestamp_ms + 1), "true"),
    ):
        is_changed, own = query_version(stage, broker, version)
        expect(
            "ROUTE-VERSION-002",
            found=is_changed,
            expected=changed,
            what=f"changed, for {version}",
            transcript=stage.client.transcript,
        )
        expect(
            "ROUTE-VERSION-003",
            found=own,
            expected=registered,
            what="the version in the body",
            transcript=stage.client.transcript,
        )

"""Lists of clusters, brokers and topics; deleting topics from them."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.routing.fake_broker import FakeCluster
from spec.routing.cluster_info import ClusterInfo, TopicList, decode_topic_list
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def listed(fake_cluster: FakeCluster, code: int, **fields: str) -> TopicList:
    """Return the list that the response to request *code* has."""
    response = fake_cluster.client.peer.request(Command(code=code, fields=fields))
    require_success(response)
    return decode_topic_list(response.body)


@pytest.mark.clause("ROUTE-CLUSTER-001", "ROUTE-CLUSTER-003")
def test_the_cluster_information_has_every_broker(fake_cluster: FakeCluster) -> None:
    first, other = fake_cluster.broker(), fake_cluster.broker()
    second = fake_cluster.broker(cluster=first.identity.cluster)
    slave = fake_cluster.broker(
        name=second.name, cluster=first.identity.cluster, broker_id=1
    )
    names = {first.name, second.name, other.name}
    for broker in (first, second, slave, other):
        broker.register()
        info = fake_cluster.clusters()
    rows = {
        name: (row.cluster, row.broker_name, dict(row.addresses))
        for name, row in info.brokers.items()
        if name in names or row.broker_name in names
    }
    expect(
        "ROUTE-CLUSTER-001",
        found=rows,
        expected={
            broker.name: (broker.identity.cluster, broker.name, addresses)
            for broker, addresses in (
                (first, {0: first.identity.address}),
                (second, {0: second.identity.address, 1: slave.identity.address}),
                (other, {0: other.identity.address}),
            )
        },
        what="cluster, brokerName and addresses of each broker",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-CLUSTER-001",
        found={
            cluster: brokers & names
            for cluster, brokers in info.clusters.items()
            if brokers & names
        },
        expected={
            first.identity.cluster: {first.name, second.name},
            other.identity.cluster: {other.name},
        },
        what="brokers of each cluster",
        transcript=fake_cluster.client.transcript,
    )
    bare = b'{0:"%s"}' % first.identity.address.encode()
    expect(
        "ROUTE-CLUSTER-003",
        found=bare in fake_cluster.cluster_response().body,
        expected=True,
        what="the broker id is a key without quotes",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIST-001", "ROUTE-LIST-002")
def test_topics_are_listed_altogether_and_by_cluster(fake_cluster: FakeCluster) -> None:
    mine, others = fake_cluster.broker(), fake_cluster.broker()
    topics = [TopicConfig(topic=fake_cluster.unique("topic")) for _ in range(3)]
    mine.register(topics[0], topics[1])
    others.register(topics[1], topics[2])
    wanted = {topic.topic for topic in topics} | {mine.name, others.name}
    everything = listed(fake_cluster, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    expect(
        "ROUTE-LIST-001",
        found=wanted - everything.topics,
        expected=set(),
        what="registered topics that are not listed",
        transcript=fake_cluster.client.transcript,
    )
    cluster = mine.identity.cluster
    some = listed(fake_cluster, RequestCode.GET_TOPICS_BY_CLUSTER, cluster=cluster)
    expect(
        "ROUTE-LIST-002",
        found=some.topics,
        expected={mine.name, cluster, topics[0].topic, topics[1].topic},
        what="topics of one cluster",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIST-003")
def test_a_cluster_that_does_not_exist_has_no_topics(fake_cluster: FakeCluster) -> None:
    cluster = fake_cluster.unique("cluster")
    found = listed(fake_cluster, RequestCode.GET_TOPICS_BY_CLUSTER, cluster=cluster)
    expect(
        "ROUTE-LIST-003",
        found=found.topics,
        expected=frozenset(),
        what="topics of an unknown cluster",
        transcript=fake_cluster.client.transcript,
    )


def unlisted(fake_cluster: FakeCluster) -> set[str]:
    """Return lasting clusters and brokers that are not among the system topics."""
    before = names_in(fake_cluster.clusters())
    found = listed(fake_cluster, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)
    return (before & names_in(fake_cluster.clusters())).difference(found.topics)


def unknown_address(fake_cluster: FakeCluster) -> str | None:
    """Return the address in the list of system topics if no broker has it."""
    before = addresses_in(fake_cluster.clusters())
    found = listed(fake_cluster, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)
    known = before | addresses_in(fake_cluster.clusters())
    return None if found.broker_address in known else str(found.broker_address)


def addresses_in(info: ClusterInfo) -> set[str]:
    """Return the addresses of all brokers."""
    return {one for row in info.brokers.values() for one in row.addresses.values()}


def names_in(info: ClusterInfo) -> set[str]:
    """Return the names of all clusters and brokers."""
    return {*info.clusters, *info.brokers}


@pytest.mark.clause("ROUTE-LIST-004", "ROUTE-LIST-005")
def test_the_system_topics_are_clusters_and_brokers(fake_cluster: FakeCluster) -> None:
    broker = fake_cluster.broker()
    broker.register(TopicConfig(topic=(topic := fake_cluster.unique("topic"))))
    found = listed(fake_cluster, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)
    # Other tests register and unregister brokers of their own meanwhile.
    expect(
        "ROUTE-LIST-004",
        found=sorted(unlisted(fake_cluster) and unlisted(fake_cluster)),
        expected=[],
        what="clusters and brokers that are not listed",
        transcript=fake_cluster.client.transcript,
    )
    names = (broker.name, broker.identity.cluster, topic)
    expect(
        "ROUTE-LIST-004",
        found=[name in found.topics for name in names],
        expected=[True, True, False],
        what="broker, cluster and ordinary topic are listed",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-LIST-005",
        found=unknown_address(fake_cluster) and unknown_address(fake_cluster),
        expected=None,
        what="brokerAddr that is no registered broker's",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIST-006", "ROUTE-LIST-007", "ROUTE-LIST-008")
def test_topics_are_listed_by_their_unit_flags(fake_cluster: FakeCluster) -> None:
    names = [fake_cluster.unique(f"flags{flags}") for flags in range(4)]
    fake_cluster.broker().register(
        *(
            TopicConfig(topic=name, topic_flags=flags)
            for flags, name in enumerate(names)
        )
    )
    wanted = {
        "ROUTE-LIST-006": (RequestCode.GET_UNIT_TOPIC_LIST, [1, 3]),
        "ROUTE-LIST-007": (RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST, [2, 3]),
        "ROUTE-LIST-008": (RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST, [2]),
    }
    for clause, (code, flags) in wanted.items():
        topics = listed(fake_cluster, code).topics
        expect(
            clause,
            found=[flag for flag, name in enumerate(names) if name in topics],
            expected=flags,
            what="flags of the topics that are listed",
            transcript=fake_cluster.client.transcript,
        )
    expect(
        "ROUTE-LIST-008",
        found=without_units(fake_cluster),
        expected=[],
        what="topics with the flag 2 and without 1 that are not listed",
        transcript=fake_cluster.client.transcript,
    )


def without_units(fake_cluster: FakeCluster) -> list[str]:
    """Return topics with the flag 2 alone that the third list lacks.

    Other tests register and unregister topics of their own meanwhile, so that only
    those are considered that were there before and after.
    """
    before, units, others, after = (
        {*listed(fake_cluster, code).topics}
        for code in (
            RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST,
            RequestCode.GET_UNIT_TOPIC_LIST,
            RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
            RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST,
        )
    )
    return sorted((before & after) - units - others)


@pytest.mark.clause("ROUTE-DELETE-001", "ROUTE-DELETE-002", "ROUTE-DELETE-003")
def test_a_deleted_topic_is_gone_until_a_new_version(fake_cluster: FakeCluster) -> None:
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    brokers = [fake_cluster.broker(), fake_cluster.broker()]
    for broker in brokers:
        broker.register(topic)
    # After a first request, a route may be cached for the next one.
    assert fake_cluster.route(topic.topic) is not None
    codes = [
        fake_cluster.client.delete_topic_in_namesrv(topic.topic).code for _ in "12"
    ]
    expect(
        "ROUTE-DELETE-001",
        found=fake_cluster.route(topic.topic),
        expected=None,
        what="route of the deleted topic",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-DELETE-002",
        found=codes,
        expected=[ResponseCode.SUCCESS] * 2,
        what="codes of deleting it twice",
        transcript=fake_cluster.client.transcript,
    )
    brokers[0].register(topic)
    route = fake_cluster.route(topic.topic)
    expect(
        "ROUTE-DELETE-003",
        found=[q.broker_name for q in route.queue_datas] if route else None,
        expected=[brokers[0].name],
        what="brokers in the route after one registered a new version",
        transcript=fake_cluster.client.transcript,
    )


def _deleted_and_registered_again(fake_cluster: FakeCluster) -> bool:
    """Return whether a topic is back when its version is the same."""
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker.register(topic)
    fake_cluster.client.delete_topic_in_namesrv(topic.topic)
    broker.register_again(topic)
    return fake_cluster.route(topic.topic) is not None


@pytest.mark.clause("ROUTE-DELETE-004")
def test_a_deleted_topic_stays_away_with_the_same_version(
    fake_cluster: FakeCluster,
) -> None:
    expect(
        "ROUTE-DELETE-004",
        found=_deleted_and_registered_again(fake_cluster),
        expected=False,
        what="topic has a route",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DELETE-005")
def test_a_deleted_topic_returns_with_the_same_version(
    fake_cluster: FakeCluster,
) -> None:
    expect(
        "ROUTE-DELETE-005",
        found=_deleted_and_registered_again(fake_cluster),
        expected=True,
        what="topic has a route",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DELETE-006")
def test_a_topic_may_be_deleted_in_one_cluster(fake_cluster: FakeCluster) -> None:
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    stays, goes = fake_cluster.broker(), fake_cluster.broker()
    for broker in (stays, goes):
        broker.register(topic)
    fields = {"topic": topic.topic, "clusterName": goes.identity.cluster}
    code = RequestCode.DELETE_TOPIC_IN_NAMESRV
    fake_cluster.client.peer.request(Command(code=code, fields=fields))
    route = fake_cluster.route(topic.topic)
    expect(
        "ROUTE-DELETE-006",
        found=[q.broker_name for q in route.queue_datas] if route else None,
        expected=[stays.name],
        what="brokers in the route",
        transcript=fake_cluster.client.transcript,
    )

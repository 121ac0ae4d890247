"""Requests of clients about themselves and their group: heartbeats, locks, members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.harness.client.requests.invoker import Invoker, json_body
from spec.integers import java_string_hash
from spec.routing.topic_config import has_members_of_5
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


class GroupRequests(Invoker):
    """The requests of a client that belongs to groups."""

    def heartbeat(
        self,
        *,
        client_id: str,
        consumers: Iterable[Mapping[str, object]] = (),
        producer_groups: Iterable[str] = (),
    ) -> Command:
        """Send a heartbeat with this client's groups; see :func:`consumer_data`."""
        body = {
            "clientID": client_id,
            "consumerDataSet": list(consumers),
            "producerDataSet": [{"groupName": group} for group in producer_groups],
        }
        return self.invoke(RequestCode.HEART_BEAT, body=json_body(body))

    def check_client(
        self, *, client_id: str, group: str, subscription: Mapping[str, object]
    ) -> Command:
        """Check that the broker supports a subscription (CHECK_CLIENT_CONFIG)."""
        body = {"clientId": client_id, "group": group, "subscriptionData": subscription}
        return self.invoke(RequestCode.CHECK_CLIENT_CONFIG, body=json_body(body))

    def unregister_client(
        self,
        *,
        client_id: str,
        producer_group: str | None = None,
        consumer_group: str | None = None,
    ) -> Command:
        """Unregister this client from its groups."""
        return self.invoke(
            RequestCode.UNREGISTER_CLIENT,
            {
                "clientID": client_id,
                "producerGroup": producer_group,
                "consumerGroup": consumer_group,
            },
        )

    def consumer_list(self, *, group: str) -> Command:
        """Get the client ids of a group (GET_CONSUMER_LIST_BY_GROUP)."""
        return self.invoke(
            RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": group}
        )

    def consumer_connections(self, *, group: str) -> Command:
        """Get the connections and subscriptions of a consumer group."""
        return self.invoke(
            RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": group}
        )

    def producer_connections(self, *, group: str) -> Command:
        """Get the connections of a producer group."""
        return self.invoke(
            RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": group}
        )

    def lock_queues(
        self, *, group: str, client_id: str, queues: Iterable[Mapping[str, object]]
    ) -> Command:
        """Lock *queues* for one consumer (LOCK_BATCH_MQ); see :func:`queue_data`."""
        return self._lock(RequestCode.LOCK_BATCH_MQ, group, client_id, queues=queues)

    def unlock_queues(
        self, *, group: str, client_id: str, queues: Iterable[Mapping[str, object]]
    ) -> Command:
        """Give up the locks on *queues*."""
        return self._lock(RequestCode.UNLOCK_BATCH_MQ, group, client_id, queues=queues)

    def _lock(
        self,
        code: int,
        group: str,
        client_id: str,
        *,
        queues: Iterable[Mapping[str, object]],
    ) -> Command:
        body: dict[str, object] = {
            "consumerGroup": group,
            "clientId": client_id,
            "mqSet": list(queues),
        }
        if has_members_of_5(self.release):
            # 5.3.3 org.apache.rocketmq.remoting.protocol.body.LockBatchRequestBody
            body["onlyThisBroker"] = False
        return self.invoke(code, body=json_body(body))


def queue_data(*, topic: str, broker_name: str, queue_id: int) -> dict[str, object]:
    """Return a queue as lock bodies name it."""
    return {"topic": topic, "brokerName": broker_name, "queueId": queue_id}


def consumer_data(
    *,
    group: str,
    subscriptions: Iterable[Mapping[str, object]] = (),
    consume_type: str = "CONSUME_PASSIVELY",
    message_model: str = "CLUSTERING",
    consume_from: str = "CONSUME_FROM_LAST_OFFSET",
    unit_mode: bool = False,
) -> dict[str, object]:
    """Return a consumer as a heartbeat describes it."""
    return {
        "groupName": group,
        "consumeType": consume_type,
        "messageModel": message_model,
        "consumeFromWhere": consume_from,
        "subscriptionDataSet": list(subscriptions),
        "unitMode": unit_mode,
    }


def subscription_data(
    *,
    topic: str,
    expression: str = "*",
    tags: Iterable[str] = (),
    codes: Iterable[int] = (),
    version: int = 0,
    expression_type: str = "TAG",
) -> dict[str, object]:
    """Return a subscription as a heartbeat describes it."""
    return {
        "topic": topic,
        "subString": expression,
        "tagsSet": list(tags),
        "codeSet": list(codes),
        "subVersion": version,
        "expressionType": expression_type,
        "classFilterMode": False,
    }


def tags_subscription(
    *, topic: str, tags: Sequence[str], version: int
) -> dict[str, object]:
    """Return a subscription to *tags*, with the expression and codes of Java."""
    return subscription_data(
        topic=topic,
        expression=" || ".join(tags),
        tags=tags,
        codes=map(java_string_hash, tags),
        version=version,
    )

"""
Requests of tools about the broker itself and its clients (Java: AdminBrokerProcessor).
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from reference.core.broker.group.clients import Client
from reference.core.broker.ports import Ports
from reference.core.broker.state import BrokerState
from reference.core.broker.topic.topic_config import Topic
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import SYSTEM_ERROR, Response, json_response
from reference.core.remoting.server import RemotingServer
from reference.core.settings import read_properties, write_properties
from spec.layout import LayoutError
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_body import body_as_json, encode_body
from spec.wire.bodies.offset_tables import ResetOffsetBody
from spec.wire.bodies.queue_name import QueueName
from spec.wire.message.message_id import decode_message_id
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

_FOR_C = "CPP"
_FIRST_WITH_RESET, _FIRST_WITH_RELAY = 28, 62
"""First versions of clients with these requests (Java: V3_0_7, V3_1_8_SNAPSHOT)."""
RELAY_TIMEOUT_MS = 10_000
"""Java: Broker2Client#callClient."""
STATUS_TIMEOUT_MS = 5_000
"""Time after which a client is left out of the consumer status."""


def broker_settings(state: BrokerState, _: Request) -> Response:
    """Respond with the settings, one per line."""
    options = state.options
    changed_at_ms = options.changed_at_ms or state.started_at_ms
    version = {"counter": options.change_count, "timestamp": changed_at_ms}
    body = write_properties(options.shown()).encode()  # [ADMIN-CONFIG-001]
    return Response(fields={"version": fastjson.dumps(version).decode()}, body=body)


def update_settings(state: BrokerState, ports: Ports, request: Request) -> Response:
    """Change and persist the settings that the body names."""
    changes = read_properties(request.body.decode())
    options, store = state.options, state.store
    options.update(changes, request.now_ms)
    store.options = replace(store.options, **options.limits_of_reads())
    ports.persist_settings()
    if "brokerPermission" in changes:
        state.topics.touch(request.now_ms)
        ports.register_topics()
    return Response()


def replicated_table(state: BrokerState, request: Request) -> Response:
    """Respond with a table that slaves copy."""
    # [ADMIN-TOPIC-005] [ADMIN-STATS-003]
    return json_response(state.replicated_tables[request.code].as_json())


def reset_offset(state: BrokerState, ports: Ports, request: Request) -> Response:
    """Send the offsets at a time to all members of a group."""
    name, group = request.text("topic"), request.text("group")
    topic = state.topics.table.get(name)
    if topic is None:
        raise Refused(
            SYSTEM_ERROR,
            "[reset-offset] reset offset failed, no topic in this broker. "
            f"topic={name}",
        )
    timestamp_ms = request.int64("timestamp")
    queues = _reset_offsets(
        state, topic, group, timestamp_ms, is_forced=request.truth("isForce")
    )
    members = state.clients.consumers.get(group)
    if members is None:
        remark = (
            f"Consumer not online, so can not reset offset, Group: {group} "
            f"Topic: {name} Timestamp: {timestamp_ms}"
        )
        raise Refused(ResponseCode.CONSUMER_NOT_ONLINE, remark)
    table = encode_body(ResetOffsetBody(offsets=queues))  # [OFFSET-RESET-004]
    body = table
    if request.language == _FOR_C:  # [OFFSET-RESET-005]
        # The C++ client cannot read keys that are objects.
        rows = [{**body_as_json(queue), "offset": n} for queue, n in queues.items()]
        body = fastjson.dumps({"offsetTable": rows})
    code = RequestCode.RESET_CONSUMER_CLIENT_OFFSET
    at = str(timestamp_ms)
    fields = {"topic": name, "group": group, "timestamp": at, "isForce": "false"}
    for client in members.members.values():
        _check_version(client, _FIRST_WITH_RESET)
        ports.remoting.invoke_oneway(client.connection, code, fields, body)
    return Response(body=table)


def _check_version(client: Client, first: int) -> None:
    if client.version < first:  # [ADMIN-CLIENT-006] [ADMIN-CLIENT-007]
        remark = f"the client does not support this feature. version={client.version}"
        raise Refused(SYSTEM_ERROR, remark)


def _reset_offsets(
    state: BrokerState,
    topic: Topic,
    group: str,
    timestamp_ms: int,
    *,
    is_forced: bool,
) -> dict[QueueName, int]:
    """Return the offset of *group* at a time, by queue; raise Refused without one.

    The time -1 is the end of the queues. Only *is_forced* moves an offset forwards.
    """
    name, queues = topic.name, dict[QueueName, int]()
    for queue_id in range(topic.write_queue_count):
        consumed = state.offsets.query(group, name, queue_id)
        if consumed == -1:
            remark = f"THe consumer group <{group}> not exist"
            raise Refused(SYSTEM_ERROR, remark)
        if timestamp_ms == -1:
            offset = state.store.max_offset(name, queue_id)
        else:
            offset = state.store.offset_by_time(name, queue_id, timestamp_ms)
        offset = max(offset, 0)
        if not is_forced:
            offset = min(offset, consumed)
        queues[state.queue_name(name, queue_id)] = offset
    return queues


def relay_to_client(
    state: BrokerState, ports: Ports, request: Request
) -> Response | None:
    """Relay a request to a member of a group, and its response back."""
    if request.code == RequestCode.CONSUME_MESSAGE_DIRECTLY:
        message_id, record = request.text("msgId"), None
        with suppress(LayoutError):
            record = state.store.record_at(decode_message_id(message_id)[1])
        if record is None:  # [ADMIN-CLIENT-005]
            raise Refused(SYSTEM_ERROR, f"there is no message {message_id}")
        fields = {**request.fields, "brokerName": state.options.broker_name}
        # [ADMIN-CLIENT-004]
        request = replace(request, fields=fields, body=bytes(record))
    group, client_id = request.text("consumerGroup"), request.text("clientId")
    members = state.clients.consumers.get(group)
    clients = [] if members is None else list(members.members.values())
    for client in clients:
        if client.client_id == client_id:
            _check_version(client, _FIRST_WITH_RELAY)
            name = f"<{group}> <{client_id}>"
            _relay(ports.remoting, request, client.connection, name)
            return None
    # [ADMIN-CLIENT-002]
    raise Refused(SYSTEM_ERROR, f"The Consumer <{group}> <{client_id}> not online")


def _relay(
    remoting: RemotingServer, request: Request, connection: int, name: str
) -> None:
    def on_response(response: Request | None) -> None:
        if response is None:
            remark = f"consumer {name} Timeout: {RELAY_TIMEOUT_MS} ms"
            relayed = Response(ResponseCode.CONSUME_MSG_TIMEOUT, remark)
        else:  # [ADMIN-CLIENT-001]
            relayed = Response(
                response.code, response.remark, response.fields, response.body
            )
        remoting.respond(request, relayed)

    remoting.invoke(
        connection,
        request.code,
        request.fields,
        request.body,
        on_response=on_response,
        timeout_at_ms=request.now_ms + RELAY_TIMEOUT_MS,
    )


def register_filter_server(state: BrokerState, request: Request) -> Response:
    """Record a filter server; respond with the broker's name and id."""
    server = Client.of(request, request.text("filterServerAddr"))
    # The first address of a connection stays.
    known = state.clients.filter_servers.setdefault(server.connection, server)
    known.seen_at_ms = server.seen_at_ms
    options = state.options  # [ADMIN-FILTER-001]
    return Response(
        fields={"brokerId": options.broker_id, "brokerName": options.broker_name}
    )


def consumer_status(
    state: BrokerState, ports: Ports, request: Request
) -> Response | None:
    """Respond with the offsets that a group's clients report, or the one named.

    INVOKE_BROKER_TO_GET_CONSUMER_STATUS: the response follows those of the clients.
    """
    name = request.text("group")
    only = (request.optional_text("clientAddr") or "").strip()
    group = state.clients.consumers.get(name)
    if group is None:
        remark = f"No Any Consumer online in the consumer group: [{name}]"
        raise Refused(SYSTEM_ERROR, remark)
    for one in group.members.values():
        _check_version(one, _FIRST_WITH_RESET)
    clients = [one for one in group.members.values() if only in {"", one.client_id}]
    table: dict[str, object] = {}
    collected = {"consumerTable": table, "messageQueueTable": {}}
    if not clients:
        return json_response(collected)
    waiting = [client.connection for client in clients]

    def on_response(client: Client, response: Request | None) -> None:
        waiting.remove(client.connection)
        try:
            if response is not None and response.code == 0 and response.body:
                found = fastjson.loads(response.body)
                if isinstance(found, dict):
                    table[client.client_id] = found.get("messageQueueTable") or {}
        finally:  # an unreadable response must not keep the others back
            if not waiting:
                ports.remoting.respond(request, json_response(collected))

    fields = {"topic": request.optional_text("topic"), "group": name}
    for client in clients:  # [ADMIN-CLIENT-003]
        ports.remoting.invoke(
            client.connection,
            RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
            fields,
            on_response=partial(on_response, client),
            timeout_at_ms=request.now_ms + STATUS_TIMEOUT_MS,
        )
    return None

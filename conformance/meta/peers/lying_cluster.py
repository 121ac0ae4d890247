"""A name server and broker in one thread, that hardly do more than be found."""

from __future__ import annotations

from collections.abc import Callable

from conformance.harness.client.address import Address
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.targets.probing.probe_requests import NONSENSE_CODE
from spec.wire.bodies.fastjson import dumps
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

UNKNOWN = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
REFUSED = RequestCode.QUERY_CONSUME_QUEUE
NONSENSE_IS_REFUSED = {
    RequestCode.GET_ROUTEINFO_BY_TOPIC: ResponseCode.TOPIC_NOT_EXIST,
    RequestCode.GET_MAX_OFFSET: ResponseCode.SYSTEM_ERROR,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: ResponseCode.SYSTEM_ERROR,
    REFUSED: UNKNOWN,
    NONSENSE_CODE: UNKNOWN,
}
NO_BROKERS = b'{"brokerAddrTable":{},"clusterAddrTable":{}}'


def lying_cluster(**changes: object) -> LyingServer:
    """Return a cluster whose responses are successes but for *changes*."""
    found: list[LyingServer] = []

    def response(request: Command) -> bytes:
        if request.code == RequestCode.GET_BROKER_CLUSTER_INFO:
            return honest(request, body=cluster_info(found[0].address))
        if request.code == RequestCode.GET_BROKER_RUNTIME_INFO:
            table = {"table": {"brokerVersionDesc": "V4_9_7"}}
            return honest(request, body=dumps(table))
        return honest(request, **changes)

    found.append(LyingServer(response))
    return found[0]


def cluster_info(address: Address, **others: Address) -> bytes:
    """Return the body of a response that lists broker b at *address*, and *others*."""
    table = {
        name: {"brokerName": name, "cluster": "c", "brokerAddrs": {0: str(one)}}
        for name, one in {"b": address, **others}.items()
    }
    info = {"brokerAddrTable": table, "clusterAddrTable": {"c": [*table]}}
    return dumps(info)


def cluster_with_codes(
    responses: Callable[[Command], int | None], *, version: int = 0
) -> LyingServer:
    """Return a cluster that answers each request with a code, or not at all."""
    found: list[LyingServer] = []

    def response(request: Command) -> bytes | None:
        code = responses(request)
        body = b""
        if request.code == RequestCode.GET_BROKER_CLUSTER_INFO:
            body = cluster_info(found[0].address)
        if code is None:
            return None
        return honest(request, code=code, body=body, version=version)

    found.append(LyingServer(response))
    return found[0]


def modest(request: Command) -> int:
    """Respond as an honest peer that does not support one request."""
    return NONSENSE_IS_REFUSED.get(request.code, ResponseCode.SUCCESS)


def boastful(request: Command) -> int:
    """Answer as a peer that takes everything for good but the same one request."""
    return UNKNOWN if request.code == REFUSED else ResponseCode.SUCCESS


def empty(request: Command) -> bytes:
    """Return the response of a name server without brokers."""
    is_list = request.code == RequestCode.GET_BROKER_CLUSTER_INFO
    return honest(request, body=NO_BROKERS) if is_list else honest(request, code=3)

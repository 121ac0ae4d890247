"""A name server and broker in one thread, that hardly do more than be found."""

from __future__ import annotations

from conformance.harness.client.address import Address
from conformance.harness.client.lying_server import LyingServer, honest
from spec.wire.bodies.fastjson import dumps
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


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


def cluster_info(address: Address) -> bytes:
    """Return the body of a response that lists one broker at *address*."""
    broker = {"brokerName": "b", "cluster": "c", "brokerAddrs": {0: str(address)}}
    info = {"brokerAddrTable": {"b": broker}, "clusterAddrTable": {"c": ["b"]}}
    return dumps(info)

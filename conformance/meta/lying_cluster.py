"""A name server and broker in one thread, that hardly do more than be found."""

from __future__ import annotations

from conformance.meta.lying_server import LyingServer, honest
from spec.wire.command import Command
from spec.wire.fastjson import dumps
from spec.wire.request_code import RequestCode


def lying_cluster(**changes: object) -> LyingServer:
    """Return a cluster whose answers are successes but for *changes*."""
    found: list[LyingServer] = []

    def answer(asked: Command) -> bytes:
        if asked.code == RequestCode.GET_BROKER_CLUSTER_INFO:
            return honest(asked, body=_cluster_info(str(found[0].address)))
        if asked.code == RequestCode.GET_BROKER_RUNTIME_INFO:
            table = {"table": {"brokerVersionDesc": "V4_9_7"}}
            return honest(asked, body=dumps(table))
        return honest(asked, **changes)

    found.append(LyingServer(answer))
    return found[0]


def _cluster_info(address: str) -> bytes:
    broker = {"brokerName": "b", "cluster": "c", "brokerAddrs": {0: address}}
    info = {"brokerAddrTable": {"b": broker}, "clusterAddrTable": {"c": ["b"]}}
    return dumps(info)

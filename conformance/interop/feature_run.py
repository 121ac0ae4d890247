"""
Running cells: one server, one client, and the features of it that are wanted.

A Java client has one machine for all of its features, the reference's client one
adapter; of the others one program does everything that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from py4j.protocol import Py4JJavaError

from conformance.harness.target import Target
from conformance.interop import (
    java_consumes,
    java_lookups,
    java_sends,
    own_features,
)
from conformance.interop.feature_cell import Cell, release_of_client
from conformance.interop.java_client import JavaClient
from conformance.interop.java_gateway import java_gateway
from conformance.interop.java_session import SOON_MS, JavaSession
from conformance.interop.other_clients import CLIENTS, happened
from conformance.interop.own_lacks import OWN

STEPS: Mapping[str, Callable[[JavaSession], object]] = {
    "sync send": java_sends.sync_send,
    "async send": java_sends.async_send,
    "oneway send": java_sends.oneway_send,
    "batch send": java_sends.batch_send,
    "large body": java_sends.large_body,
    "compressed body": java_sends.compressed_body,
    "ordered": java_sends.ordered,
    "delay": java_sends.delayed,
    "transaction": java_sends.transaction,
    "request and reply": java_sends.request_reply,
    "request, called back": java_sends.request_callback,
    "tag filter": java_consumes.by_tag,
    "SQL92 filter": java_consumes.by_sql,
    "broadcast": java_consumes.broadcast,
    "rebalance": java_consumes.rebalance,
    "retry": java_consumes.retry,
    "dead letters": java_consumes.dead_letters,
    "pull": java_consumes.pull,
    "lite pull": java_consumes.lite_pull,
    "query by id": java_lookups.by_id,
    "query by key": java_lookups.by_key,
    "query by unique key": java_lookups.by_unique_key,
    "query by offset": java_lookups.by_offset,
    "reset offset": java_lookups.reset_offset,
    "topics": java_lookups.topics,
    "groups": java_lookups.groups,
    "statistics": java_lookups.statistics,
    "cluster": java_lookups.cluster,
}
"""What a Java client does for each feature."""

SOONER = f"-Drocketmq.client.rebalance.waitInterval={SOON_MS}"
"""Queues are divided anew every 20 s by default."""


def run(cells: Sequence[Cell], target: Target, directory: Path) -> Iterator[Cell]:
    """Run cells of one client and one server; yield each with its outcome."""
    client = cells[0].client
    if client == OWN:
        yield from own_features.run(cells, target)
        return
    release = release_of_client(client)
    if release is None:
        outcomes = happened(CLIENTS[client], target)
        for cell in cells:
            yield replace(cell, outcome=outcomes.get(cell.feature))
        return
    assert target.namesrv is not None
    java = JavaClient(
        release=release,
        namesrv=target.namesrv,
        directory=directory,
        options=(SOONER,),
    )
    with java_gateway(java) as gateway:
        session = JavaSession(gateway=gateway, target=target, release=release)
        for cell in cells:
            yield replace(cell, outcome=_outcome(session, cell.feature))


def _outcome(session: JavaSession, name: str) -> object:
    try:
        return STEPS[name](session)
    except Py4JJavaError as error:
        return {"error": java_sends.failure(error.java_exception)}
    except AssertionError as error:
        return {"error": type(error).__name__}
    finally:
        session.close()

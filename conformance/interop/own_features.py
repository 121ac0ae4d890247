"""
Running the features of the reference's client: one server, and those that are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from conformance.harness.target import Target
from conformance.interop import own_consumes, own_sends
from conformance.interop.feature_cell import Cell
from conformance.interop.own_session import OwnSession, RefusedError, own_session

STEPS: Mapping[str, Callable[[OwnSession], object]] = {
    "sync send": own_sends.sync_send,
    "async send": own_sends.async_send,
    "oneway send": own_sends.oneway_send,
    "batch send": own_sends.batch_send,
    "large body": own_sends.large_body,
    "compressed body": own_sends.compressed_body,
    "ordered": own_sends.ordered,
    "delay": own_sends.delayed,
    "transaction": own_sends.transaction,
    "request and reply": own_sends.request_reply,
    "request, called back": own_sends.request_both,
    "tag filter": own_consumes.by_tag,
    "SQL92 filter": own_consumes.by_sql,
    "broadcast": own_consumes.broadcast,
    "rebalance": own_consumes.rebalance,
    "retry": own_consumes.retry,
    "dead letters": own_consumes.dead_letters,
    "pull": own_consumes.pull,
    "lite pull": own_consumes.lite_pull,
    "query by offset": own_consumes.by_offset,
    "reset offset": own_consumes.reset_offset,
}
"""What the reference's client does for each feature."""


def run(cells: Sequence[Cell], target: Target) -> Iterator[Cell]:
    """Run cells of the reference's client at a server; yield each with its outcome."""
    with own_session(target) as session:
        for cell in cells:
            yield replace(cell, outcome=_outcome(session, cell.feature))


def _outcome(session: OwnSession, name: str) -> object:
    try:
        return STEPS[name](session)
    except RefusedError as error:
        return {"error": f"{error.kind} {error.code}"}
    except AssertionError as error:
        return {"error": type(error).__name__}
    finally:
        session.close()

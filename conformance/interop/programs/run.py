"""
Run cells: one server, one client, and the requested features of it.

The reference's client and Java's clients run the same programs, each through its
adapter. Features of Java's admin tools go through py4j: conformance.interop.java.tools.
Each other client has one program for all of its features.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from py4j.protocol import Py4JJavaError

from conformance.harness.targets.client_target import REFERENCE
from conformance.harness.targets.target import Target
from conformance.interop.java import tools
from conformance.interop.java.client import JavaClient
from conformance.interop.java.gateway import java_gateway
from conformance.interop.programs import consumes, sends
from conformance.interop.programs.cell import OWN, Cell, release_of_client
from conformance.interop.programs.other_clients import CLIENTS, happened
from conformance.interop.programs.session import (
    ClientError,
    ClientSession,
    open_session,
)
from rocketmq_conformance.paths import module_command

STEPS: Mapping[str, Callable[[ClientSession], object]] = {
    "sync send": sends.sync_send,
    "async send": sends.async_send,
    "oneway send": sends.oneway_send,
    "batch send": sends.batch_send,
    "large body": sends.large_body,
    "compressed body": sends.compressed_body,
    "ordered": sends.ordered,
    "delay": sends.delayed,
    "transaction": sends.transaction,
    "request and reply": sends.request_reply,
    "request, called back": sends.request_both,
    "tag filter": consumes.by_tag,
    "SQL92 filter": consumes.by_sql,
    "broadcast": consumes.broadcast,
    "rebalance": consumes.rebalance,
    "retry": consumes.retry,
    "dead letters": consumes.dead_letters,
    "pull": consumes.pull,
    "lite pull": consumes.lite_pull,
    "query by offset": consumes.by_offset,
    "reset offset": consumes.reset_offset,
}
"""Program of each feature that goes through an adapter."""


def adapter_command(client: str) -> str:
    """Return the command of the adapter of a Java client or the reference's client."""
    if client == OWN:
        return REFERENCE
    module = "conformance.client.adapters.java"
    return shlex.join(module_command(module, release_of_client(client) or ""))


def run(cells: Sequence[Cell], target: Target, directory: Path) -> Iterator[Cell]:
    """Run cells of one client and one server; yield each with its outcome."""
    client = cells[0].client
    if client in CLIENTS:
        outcomes = happened(CLIENTS[client], target)
        for cell in cells:
            yield replace(cell, outcome=outcomes.get(cell.feature))
        return
    with ExitStack() as stack:
        session = stack.enter_context(open_session(target, adapter_command(client)))
        java: tools.JavaTools | None = None
        for cell in cells:
            if cell.feature in STEPS:
                outcome = _outcome(session, STEPS[cell.feature])
            else:
                java = java or _tools(stack, session, client, directory)
                outcome = _tool_outcome(java, tools.STEPS[cell.feature])
            yield replace(cell, outcome=outcome)


def _tools(
    stack: ExitStack, session: ClientSession, client: str, directory: Path
) -> tools.JavaTools:
    """Return the admin tools of a Java client's release; *stack* closes them."""
    release, namesrv = release_of_client(client), session.target.namesrv
    assert release is not None
    assert namesrv is not None
    java = JavaClient(release=release, namesrv=namesrv, directory=directory)
    gateway = stack.enter_context(java_gateway(java))
    made = tools.JavaTools(gateway=gateway, session=session, release=release)
    return stack.enter_context(closing(made))


def _outcome(session: ClientSession, step: Callable[[ClientSession], object]) -> object:
    try:
        return step(session)
    except ClientError as error:
        return {"error": error.failure}
    except AssertionError as error:
        return {"error": type(error).__name__}
    finally:
        session.close()


def _tool_outcome(
    java: tools.JavaTools, step: Callable[[tools.JavaTools], object]
) -> object:
    try:
        return step(java)
    except Py4JJavaError as error:
        return {"error": tools.failure(error.java_exception)}
    except ClientError as error:
        return {"error": error.failure}
    except AssertionError as error:
        return {"error": type(error).__name__}
    finally:
        java.session.close()

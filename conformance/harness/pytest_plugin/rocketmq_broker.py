"""
Process behind the fixture ``rocketmq_broker`` of `rocketmq_conformance.pytest_plugin`.

It runs a target for the tests of a foreign project, whose pytest imports nothing of
ours. Requests and responses are lines of JSON on standard input and output:
``{"name": "count", "topic": ..., "queues": 4}``, then ``{"result": 3}`` or
``{"error": "..."}``. The target ends with standard input.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from conformance.harness.client.client import require_success
from conformance.harness.client.peer_errors import PeerError
from conformance.harness.process.process import ProcessError
from conformance.harness.targets.target import Target, TargetError, parse_target

Values = Mapping[str, Any]


def create_topic(target: Target, request: Values) -> None:
    """Create a topic, or change the number of its queues."""
    topic, queues = request["topic"], request["queues"]
    with target.connect_to_broker() as client:
        require_success(client.create_topic(topic=topic, queue_count=queues))


def count(target: Target, request: Values) -> int:
    """Return the number of messages in the queues of a topic."""
    topic = request["topic"]
    with target.connect_to_broker() as client:
        ends = [
            require_success(client.max_offset(topic=topic, queue_id=queue_id))
            for queue_id in range(request["queues"])
        ]
    return sum(int(end.fields["offset"]) for end in ends)


def restart(target: Target, _request: Values) -> None:
    """Stop the target in good order and start it with the same ports and store."""
    target.restart()


def crash(target: Target, _request: Values) -> None:
    """Kill the target and start it on the same store."""
    target.kill()
    target.start()


REQUESTS: Mapping[str, Callable[[Target, Values], Any]] = {
    "create_topic": create_topic,
    "count": count,
    "restart": restart,
    "crash": crash,
}
"""Function of each request after ``start``."""


def running(target: Target) -> dict[str, str | None]:
    """Return the addresses and names that a project's tests need."""
    if target.namesrv is None or target.broker is None:
        raise TargetError(f"no listener at {target.text}")
    return {
        "namesrv": str(target.namesrv),
        "broker": str(target.broker),
        "name": target.broker_name,
        "cluster": target.cluster,
        "store": str(target.store_path) if target.store_path else None,
    }


def main() -> None:
    """Start the target of the first line, then serve requests until the input ends."""
    with ExitStack() as resources:
        first = json.loads(sys.stdin.readline() or "{}")
        if not first:
            return
        try:
            target = parse_target(first["target"], conf=first["settings"])
            resources.enter_context(target)
            _respond(result=running(target))
        except (TargetError, ProcessError) as error:
            _respond(error=str(error))
            return
        for line in sys.stdin:
            _serve(target, json.loads(line))


def _serve(target: Target, request: Values) -> None:
    try:
        _respond(result=REQUESTS[request["name"]](target, request))
    except (TargetError, ProcessError, PeerError, AssertionError) as error:
        _respond(error=str(error))


def _respond(**response: object) -> None:
    sys.stdout.write(json.dumps(response) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

"""
The state machines of the reference, drawn as diagrams.

    python -m reference.state_diagrams > docs/state_machines.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from reference.core.broker.ha.connection_state import (
    MASTER_END_TRANSITIONS,
    SLAVE_END_TRANSITIONS,
)
from reference.core.broker.pull.pull_request import PULL_TRANSITIONS
from reference.core.broker.transaction.half_message import HALF_MESSAGE_TRANSITIONS
from reference.core.client.rebalance.orderly_queue import (
    ORDERLY_CONSUMPTION_TRANSITIONS,
    QUEUE_LOCK_TRANSITIONS,
)
from reference.core.state_machine import StateMachine

MACHINES: Sequence[StateMachine[Any, Any]] = (
    HALF_MESSAGE_TRANSITIONS,
    PULL_TRANSITIONS,
    MASTER_END_TRANSITIONS,
    SLAVE_END_TRANSITIONS,
    QUEUE_LOCK_TRANSITIONS,
    ORDERLY_CONSUMPTION_TRANSITIONS,
)
_HEAD = """\
# State machines

Drawn by `python -m reference.state_diagrams` from the tables in `reference/core`. The
code that changes a state takes the transition from its table. An event that the table
lacks raises `TransitionError`.
"""


def page() -> str:
    """Return the page with all diagrams, as Markdown."""
    parts = [_HEAD]
    for one in MACHINES:
        title = one.title[0].upper() + one.title[1:]
        parts.append(f"## {title}\n\n```mermaid\n{one.diagram()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())

"""
Guard: removes the containers of a run that was killed.

It waits until the pipe from the run closes, which every end of the run does, and then
removes the containers with the run's label.
"""

from __future__ import annotations

import signal
import sys
from contextlib import closing

from conformance.harness.docker.engine import connect, remove_labelled


def main(owner: str) -> None:
    """Wait for the run's end and remove what *owner* has left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    with closing(connect()) as engine:
        remove_labelled(engine, owner)


if __name__ == "__main__":
    main(sys.argv[1])

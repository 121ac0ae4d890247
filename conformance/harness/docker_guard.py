"""
The guard removes the containers of a run that can no longer do it itself.

It waits until the pipe from the run closes, as it does at the run's end, whatever ended
it, and then removes what carries the run's label.
"""

from __future__ import annotations

import signal
import sys
from contextlib import closing

from conformance.harness.docker_engine import connect, remove_labelled


def main(owner: str) -> None:
    """Wait for the run's end and remove what *owner* has left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    with closing(connect()) as engine:
        remove_labelled(engine, owner)


if __name__ == "__main__":
    main(sys.argv[1])

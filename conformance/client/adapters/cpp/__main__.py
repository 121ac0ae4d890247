"""
Put the C++ client under test, by the Python package ``rocketmq``.

    python -m conformance.client.adapters.cpp

The package comes from the Python registry when it is first needed, and stays in the
user's cache. The library's files (logs, offsets) are in a directory that goes with the
process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
from collections import defaultdict
from queue import SimpleQueue

from conformance.client.adapters.cpp.installed import make_importable
from conformance.client.adapters.template import Line

WITHOUT_LANE = frozenset({"hello", "release", "stop"})


def serve() -> None:
    """Read requests until the end of input; each lane has a thread."""
    from conformance.client.adapters.cpp.adapter import Adapter, keep_quiet

    lines = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the library prints errors
    writing = threading.Lock()

    def emit(line: Line) -> None:
        with writing:
            lines.write(json.dumps(line) + "\n")
            lines.flush()

    keep_quiet()
    adapter = Adapter(emit)

    def perform(requests: SimpleQueue[Line]) -> None:
        while True:
            adapter.respond(requests.get())

    def lane() -> SimpleQueue[Line]:
        requests: SimpleQueue[Line] = SimpleQueue()
        threading.Thread(target=perform, args=(requests,), daemon=True).start()
        return requests

    lanes: defaultdict[str, SimpleQueue[Line]] = defaultdict(lane)
    for text in sys.stdin:
        line = json.loads(text)
        if line["verb"] == "bye":
            return
        if line["verb"] in WITHOUT_LANE:
            threading.Thread(target=adapter.respond, args=(line,), daemon=True).start()
        else:
            lanes[line.get("lane", "0")].put(line)


def main() -> int:
    """Run the adapter until its standard input ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    make_importable()
    with tempfile.TemporaryDirectory(
        prefix="cpp-client-", ignore_cleanup_errors=True
    ) as home:
        os.environ["HOME"] = home  # before the library is loaded
        serve()
    return 0


if __name__ == "__main__":
    STATUS = main()
    sys.stderr.flush()
    os._exit(STATUS)  # clients that were not stopped have threads

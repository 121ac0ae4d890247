"""
Put the C++ client under test, by the Python package ``rocketmq``.

    python -m conformance.client.adapters.cpp

The package comes from the Python registry when it is first needed, and stays in the
user's cache. The library's files (logs, offsets) are in a directory that goes with the
process.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from threading import Thread

from conformance.client.adapters.cpp.installed import make_importable
from conformance.client.adapters.template import Line, read_requests, writer_to


def serve() -> None:
    """Read requests until the end of input."""
    from conformance.client.adapters.cpp.adapter import Adapter, keep_quiet

    lines = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the library prints errors
    keep_quiet()
    adapter = Adapter(writer_to(lines))

    def respond_apart(line: Line) -> None:
        """Respond in a thread of its own: a stop waits for the listener."""
        Thread(target=adapter.respond, args=(line,), daemon=True).start()

    read_requests(adapter.respond, respond_apart)


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

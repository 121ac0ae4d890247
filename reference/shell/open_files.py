"""
The limit of open files of this process.

Each mapped file of a store needs one or two descriptors. The usual limit of 1,024 is
too low for a few hundred queues; Java raises it at its start (MaxFDLimit).
"""

from __future__ import annotations

import contextlib

try:
    import resource
except ImportError:  # not a POSIX system: there is no such limit
    resource = None  # type: ignore[assignment]


def raise_limit() -> None:
    """Let this process open as many files as its hard limit permits."""
    if resource is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS refuses the infinite limit that it states.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

"""
Processes of a group that outlive the one that began it.

A target's command may be a wrapper (``sh``, ``npx``) that ends before its program.
"""

from __future__ import annotations

import os
from contextlib import suppress

import psutil


def orphans(group: int) -> list[int]:
    """Return the ids of a group's running processes, once its first one has ended.

    Empty where a process has the number of the group. The system gives it to a stranger
    only after the last process of the group.
    """
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return []
    members = [one.pid for one in psutil.process_iter() if _is_in(one, group)]
    return [] if group in members else members


def _is_in(process: psutil.Process, group: int) -> bool:
    with suppress(psutil.Error, ProcessLookupError):
        is_of_group = os.getpgid(process.pid) == group
        return is_of_group and process.status() != psutil.STATUS_ZOMBIE
    return False

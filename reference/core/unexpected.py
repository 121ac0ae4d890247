"""
Unexpected exceptions: one line of text for the operator or the peer.

An exception that is no `Refused` and no `FilesError` is a defect or hostile input. A
loop over independent steps catches it, reports it by `error_text`, and takes the next
step. README.md lists these loops.
"""

from __future__ import annotations


def error_text(error: Exception) -> str:
    """Return the class and the message of *error*."""
    return f"{type(error).__name__}: {error}"

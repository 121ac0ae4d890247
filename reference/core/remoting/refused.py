"""
The exception by which a handler's check refuses a request.

A check returns its result or raises `Refused`; `RemotingServer` turns that into an
error response. The module is separate because `request` and all handlers need it.
"""

from __future__ import annotations


class Refused(Exception):
    """A refused request: response code and remark. It is no failure of the server."""

    def __init__(self, code: int, remark: str) -> None:
        super().__init__(remark)
        self.code = code
        self.remark = remark

"""
The refusal of a start: the first file or state that prevents it ends the forecast.
"""

from __future__ import annotations

from typing import NamedTuple

from reference.core.store.recovery.load import LoadPlan, describe_wrong_file
from reference.core.store.recovery.rules import RecoveryRules, WrongSizeFilePolicy


class Refusal(NamedTuple):
    """The reason why the broker refuses to start."""

    clause: str
    file: str
    reason: str


class StartRefusedError(Exception):
    """The broker refuses to start."""

    def __init__(self, clause: str, file: str, reason: str) -> None:
        super().__init__(reason)
        self.refusal = Refusal(clause, file, reason)


def refuse_wrong_file(
    plan: LoadPlan, directory: str, file_size: int, rules: RecoveryRules
) -> None:
    """Raise StartRefusedError for the file that prevents the load of *directory*."""
    if plan.wrong_file is None:
        return
    clause = "REC-LOAD-001"
    if plan.wrong_file.size == file_size:
        clause = "REC-LOAD-004"
    elif rules.wrong_size_file is WrongSizeFilePolicy.DELETE_EMPTY_LAST:
        clause = "REC-LOAD-002"
    reason = describe_wrong_file(directory, plan.wrong_file, file_size)
    raise StartRefusedError(clause, f"{directory}/{plan.wrong_file.name}", reason)

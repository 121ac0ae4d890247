"""
Advice for broken configuration files, which does not depend on the commit log.
"""

from __future__ import annotations

from collections.abc import Collection

from spark_checks.findings import Finding

OF_THE_FILE_ALONE = (
    *("INV-CONFIG-001", "INV-CONFIG-003", "INV-CONFIG-004", "INV-CONFIG-005"),
)
"""Invariants that no damage to the commit log breaks."""
NO_COPY = (
    "Neither the file nor its .bak can be read: bring the file back from a slave or a"
    " backup before the broker starts."
)
PERSISTED = (
    "Nothing: a running broker persists the file every few seconds, and writes the .bak"
    " with it."
)
REWRITES = {
    "topics.json.bak": "updateTopic` of any topic",
    "subscriptionGroup.json.bak": "updateSubGroup` of any group",
}
"""Subcommand of mqadmin that makes a broker write a file, by name of its copy."""


def config_advice(finding: Finding, broken: Collection[str]) -> str | None:
    """Return the advice for *finding*, None where that of its invariant is right.

    *broken* are the paths of all configuration files that are not JSON.
    """
    name = finding.invariant.id
    if name == "INV-CONFIG-001" and f"{finding.file}.bak" in broken:
        return NO_COPY
    if name != "INV-CONFIG-003":
        return None
    if finding.file.removesuffix(".bak") in broken:
        return NO_COPY
    command = REWRITES.get(finding.file.rpartition("/")[2])
    if command is None:
        return PERSISTED
    return (
        f"Have the broker write the file twice by `mqadmin {command}, and audit again."
    )

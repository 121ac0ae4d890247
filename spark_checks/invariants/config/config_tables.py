"""
Invariants of configuration files: that they are there, are JSON, and have a table.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_checks.config_files import CONSUMED, GROUPS, TABLES, TOPICS, config_file
from spark_checks.findings import Finding, Severity
from spark_checks.invariants.config.settings import OF_THE_BROKER
from spark_checks.invariants.file_findings import file_finding
from spark_checks.store_files import Store
from spark_checks.survey.summary import SurveySummary


def check_config_tables(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings in the tables of the configuration of *store*."""
    for name, member in TABLES.items():
        path = f"config/{name}"
        if store.file(path) is None:
            yield from _missing(store, path, summary)
            continue
        file = config_file(store, path)
        if file.error is None and not file.has_table:
            members = ", ".join(file.members) or "of an empty object"
            is_object = isinstance(file.value, dict)
            found = f"the members {members}" if is_object else "no object"
            texts = {"expected": f"a table {member}", "found": found}
            yield file_finding("INV-CONFIG-005", path, (0, len(file.data)), **texts)


def check_configuration(store: Store) -> Iterator[Finding]:
    """Yield the configuration files, and copies, that no broker can have written.

    Since 5.1 a kill may cut a file while it is written. A start loads its copy then
    (5.3.3 common.MixAll#string2File, common.ConfigManager#load).

    fastjson accepts zero bytes within a name and never writes them. They are left by a
    disk that lost a write. Behind the text they change nothing.
    """
    for file in store.settings:
        found = config_file(store, file.path)
        text = found.data.rstrip(b"\0\n")
        offset, reason = text.find(b"\0"), "a zero byte within a text"
        severity = None
        if found.error is not None:
            offset, reason = found.error.offset or 0, str(found.error).splitlines()[0]
            if config_file(store, f"{file.path}.bak").value is not None:
                severity = Severity.UNFINISHED
        if offset >= 0:
            is_copy = file.name.endswith(".bak")
            name = "INV-CONFIG-003" if is_copy else "INV-CONFIG-001"
            place = offset, file.size
            yield file_finding(name, file.path, place, severity, found=reason)


def _missing(store: Store, path: str, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the finding of a missing file.

    A broker deletes it before it renames the new one (4.6.0 common.MixAll#string2File).
    From 5.4 on it becomes the copy before the new one is written (STORE-SETTINGS-011).
    Each creation of a topic writes topics.json.
    """
    if store.file(f"{path}.bak") is not None:
        yield _finding(path, f"no file, but a copy {path}.bak", Severity.WARNING)
    elif not store.may_have_config_in_rocksdb and _is_required(store, path, summary):
        # A copy may leave out all of them. A new slave receives topics and groups last.
        has_others = store.file(GROUPS) is not None
        severity = Severity.ERROR if has_others else Severity.WARNING
        yield _finding(path, "no file, and no copy", severity)


def _is_required(store: Store, path: str, summary: SurveySummary) -> bool:
    """Return whether the broker that wrote the other files wrote this one as well.

    It writes consumed offsets at each stop (4.6.0 broker.BrokerController#shutdown).
    """
    paths = {file.path for file in store.under("config")}
    if path == TOPICS:
        topics = {topic for topic, _ in summary.units}
        return any(not OF_THE_BROKER.fullmatch(one) for one in topics)
    is_closed = not store.was_left_open
    others = {TOPICS, GROUPS}
    return (
        path in CONSUMED and is_closed and others <= paths and not paths & {*CONSUMED}
    )


def _finding(path: str, found: str, severity: Severity) -> Finding:
    texts = {"expected": "a file", "found": found}
    message = f"{path} is missing: {found}."
    return file_finding(
        "INV-CONFIG-005", path, (0, 0), severity, message=message, **texts
    )

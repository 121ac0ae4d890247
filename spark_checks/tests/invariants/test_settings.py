"""
Configuration and queues are compared without reading the log.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spark_checks.config_files import LMQ_CONSUMED_OFFSETS, consumed_path
from spark_checks.invariants.config.config_tables import (
    check_config_tables,
    check_configuration,
)
from spark_checks.invariants.config.settings import check_settings
from spark_checks.store_files import list_store
from spark_checks.store_summary import store_summary
from spark_checks.survey.summary import QueueSummary
from spark_checks.tests.building import SUMMARY

UNITS = QueueSummary(count=10, matched_count=10, first=0, last=9, hash=1)
DIGEST = replace(
    SUMMARY, units={("Orders", 0): UNITS, ("SCHEDULE_TOPIC_XXXX", 1): UNITS}
)
OFFSETS = '{"offsetTable":{"Other@g":{0:77},"Orders@g":{0:%s,7:5}}}'
DELAYS = '{"offsetTable":{1:5,2:%s}}'
TOPICS = '{"topicConfigTable":{"%s":{}}}'


def _found(root: Path, name: str, text: str) -> list[tuple[str, int, str]]:
    """Return the findings if the configuration file *name* contains *text*."""
    (root / "commitlog").mkdir()
    (root / "config").mkdir()
    (root / "config" / name).write_text(text, encoding="utf-8")
    store = list_store(str(root))
    findings = [
        one.settled(is_open=store.was_left_open)
        for one in (*check_settings(store, DIGEST), *check_configuration(store))
    ]
    return [(f.invariant.id, f.offset, str(f.severity)) for f in findings]


@pytest.mark.parametrize("text", ["{}", "[]", '""', "null", "7"])
def test_a_file_that_is_another_value_has_no_table(tmp_path: Path, text: str) -> None:
    assert not _found(tmp_path, "topics.json", text)
    found = check_config_tables(list_store(str(tmp_path)), SUMMARY)
    names = [(one.invariant.id, one.file) for one in found]
    assert names == [("INV-CONFIG-005", "config/topics.json")]


@pytest.mark.parametrize(
    ("directory", "is_found"), [("users", True), ("acls", True), ("topics", False)]
)
def test_a_missing_table_is_found_beside_databases_of_access_control(
    tmp_path: Path, directory: str, is_found: bool
) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "config" / directory).mkdir(parents=True)
    found = check_config_tables(list_store(str(tmp_path)), DIGEST)
    assert ("config/topics.json" in {one.file for one in found}) is is_found


def test_offsets_of_lmqs_may_have_a_copy_alone(tmp_path: Path) -> None:
    """A kill leaves this between the two steps of STORE-SETTINGS-011."""
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / f"{LMQ_CONSUMED_OFFSETS}.bak").write_text("{}")
    assert consumed_path(list_store(str(tmp_path))) == LMQ_CONSUMED_OFFSETS


def test_a_queue_id_that_is_no_pattern_is_compared(tmp_path: Path) -> None:
    text = '{"offsetTable":{"Orders@g":{"(":-5}}}'
    found = _found(tmp_path, "consumerOffset.json", text)
    assert ("INV-OFFSET-001", text.index("-5"), "error") in found


@pytest.mark.parametrize("offset", [-1, 0, 5, 10])
def test_an_offset_within_its_queue_is_right(tmp_path: Path, offset: int) -> None:
    assert _found(tmp_path, "consumerOffset.json", OFFSETS % offset) == []


@pytest.mark.parametrize("offset", ["-2", "11", "9223372036854775807"])
def test_an_offset_outside_its_queue_is_found_where_it_stands(
    tmp_path: Path, offset: str
) -> None:
    text = OFFSETS % offset
    found = _found(tmp_path, "consumerOffset.json", text)
    assert found == [("INV-OFFSET-001", text.index(f"{offset},7"), "error")]


def test_a_killed_broker_may_have_lost_the_end_of_a_queue(tmp_path: Path) -> None:
    (tmp_path / "abort").touch()
    found = _found(tmp_path, "consumerOffset.json", OFFSETS % 11)
    assert [severity for _, _, severity in found] == ["warning"]


def test_a_delay_level_past_its_queue_is_found(tmp_path: Path) -> None:
    text = DELAYS % 11
    found = _found(tmp_path, "delayOffset.json", text)
    assert found == [("INV-OFFSET-002", text.index("11"), "error")]


def test_a_delay_level_at_the_end_of_its_queue_is_right(tmp_path: Path) -> None:
    assert _found(tmp_path, "delayOffset.json", DELAYS % 10) == []


def test_a_topic_with_messages_is_configured(tmp_path: Path) -> None:
    assert _found(tmp_path, "topics.json", TOPICS % "Orders") == []


def test_a_topic_with_messages_that_is_not_configured_is_found(
    tmp_path: Path,
) -> None:
    found = _found(tmp_path, "topics.json", TOPICS % "Renamed")
    assert found == [("INV-CONFIG-002", 0, "warning")]


@pytest.mark.parametrize("text", ["", "\0\0\0", '{"offsetTable":'])
def test_a_copy_that_cannot_be_read_is_found(tmp_path: Path, text: str) -> None:
    found = _found(tmp_path, "consumerOffset.json.bak", text)
    assert [(one, severity) for one, _, severity in found] == [
        ("INV-CONFIG-003", "warning")
    ]


@pytest.mark.parametrize(
    "text", ["[]", '{"offsetTable":[]}', '{"offsetTable":{"a":1}}']
)
def test_a_table_of_another_shape_is_passed_over(tmp_path: Path, text: str) -> None:
    assert _found(tmp_path, "consumerOffset.json", text) == []


def test_a_summary_counts_the_entries_of_each_file(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "config").mkdir()
    for name, text in (
        ("consumerOffset.json", OFFSETS % 1),
        ("delayOffset.json", "{"),
        ("topics.json", TOPICS % "Orders"),
    ):
        (tmp_path / "config" / name).write_text(text, encoding="utf-8")
    summary = store_summary(list_store(str(tmp_path)), DIGEST)
    assert summary["config"] == {"consumed_offsets": 2, "topics": 1}

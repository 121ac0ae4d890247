"""
Names, sizes and side files are checked without reading the log.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.audit import audit_store
from spark_checks.config_files import CONSUMED, TOPICS, ConfigFile, config_file
from spark_checks.file_systems import NotAStoreError
from spark_checks.findings import Severity
from spark_checks.invariants.checkpoints import UNFLUSHED_MS_MAX, check_checkpoint
from spark_checks.invariants.config.config_tables import (
    check_config_tables,
    check_configuration,
)
from spark_checks.invariants.files import check_files
from spark_checks.invariants.index.index_headers import check_index_headers
from spark_checks.store_files import Store, StoreFile, list_store
from spark_checks.survey.summary import QueueSummary, SurveySummary
from spark_checks.tests.building import BEGAN_AT_MS, SUMMARY, StoreBuilder
from spec.store.checkpoint import Checkpoint, encode_checkpoint
from spec.store.index_file import IndexHeader, encode_header, file_size

QUEUE = "consumequeue/Orders/0"
NO_OFFSET = f"commitlog/{'9' * 20}"
"""Number that does not fit into 64 bits."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a store of several commit-log and consume-queue files."""
    builder = StoreBuilder()
    for _ in range(300):
        builder.put("Orders")
    return builder.write(tmp_path)


def _found(root: Path) -> list[tuple[str, str, int]]:
    store = list_store(str(root))
    findings = [
        *check_files(store),
        *check_checkpoint(store, SUMMARY),
        *check_index_headers(store, SUMMARY),
        *check_configuration(store),
    ]
    return [(found.invariant.id, found.file, found.offset) for found in findings]


def test_a_store_in_order_has_nothing(root: Path) -> None:
    assert _found(root) == []


def _cut(name: str, size: int) -> Callable[[Path], None]:
    def cut(root: Path) -> None:
        (root / name).write_bytes((root / name).read_bytes()[:size])

    return cut


def _remove(name: str) -> Callable[[Path], None]:
    return lambda root: (root / name).unlink()


def _put(name: str, data: bytes) -> Callable[[Path], None]:
    def put(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)

    return put


AHEAD = encode_checkpoint(Checkpoint(physic_ms=BEGAN_AT_MS + 9000, logics_ms=-1))
INDEX = "index/20260101120000000"
SETTLED = IndexHeader(end_offset=100, slot_count=1, index_count=400)
EMPTY_INDEX = bytes(file_size(100, 400) - 40)


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (_put("commitlog/notes.txt", b"?"), ("INV-FILE-001", "commitlog/notes.txt", 0)),
        (
            _put(f"{QUEUE}/00000000000000000400~", b""),
            ("INV-FILE-001", f"{QUEUE}/00000000000000000400~", 0),
        ),
        (
            _remove("commitlog/00000000000000016384"),
            ("INV-FILE-003", "commitlog/00000000000000016384", 0),
        ),
        (
            _remove(f"{QUEUE}/00000000000000000800"),
            ("INV-FILE-003", f"{QUEUE}/00000000000000000800", 0),
        ),
        (
            _cut("commitlog/00000000000000032768", 9000),
            ("INV-FILE-002", "commitlog/00000000000000032768", 9000),
        ),
        (
            _cut("commitlog/00000000000000032768", 0),
            ("INV-FILE-002", "commitlog/00000000000000032768", 0),
        ),
        (
            _cut(f"{QUEUE}/00000000000000000400", 200),
            ("INV-FILE-002", f"{QUEUE}/00000000000000000400", 200),
        ),
        (
            _cut(f"{QUEUE}/00000000000000000400", 390),
            ("INV-FILE-004", f"{QUEUE}/00000000000000000400", 390),
        ),
        (_remove("checkpoint"), ("INV-CHECK-001", "checkpoint", 0)),
        (_put(NO_OFFSET, b"x"), ("INV-FILE-001", NO_OFFSET, 0)),
        (_cut("checkpoint", 100), ("INV-CHECK-001", "checkpoint", 0)),
        (_put("checkpoint", AHEAD), ("INV-CHECK-002", "checkpoint", 0)),
        (_put("checkpoint", AHEAD), ("INV-CHECK-002", "checkpoint", 8)),
        (
            _put("config/topics.json", b'{"topicConfigTable":{'),
            ("INV-CONFIG-001", "config/topics.json", 0),
        ),
        (
            _put(INDEX, encode_header(IndexHeader(index_count=9999)) + EMPTY_INDEX),
            ("INV-INDEX-001", INDEX, 36),
        ),
        (
            _put(INDEX, encode_header(IndexHeader(end_offset=50_000)) + EMPTY_INDEX),
            ("INV-INDEX-001", INDEX, 24),
        ),
        (_put(INDEX, b"short"), ("INV-INDEX-002", INDEX, 0)),
    ],
)
def test_a_harmed_file_is_named(
    root: Path, harm: Callable[[Path], None], expected: tuple[str, str, int]
) -> None:
    harm(root)
    found = _found(root)
    at_zero = [(invariant, file, 0) for invariant, file, _ in found]
    wanted = found if expected[2] or expected[0] != "INV-CONFIG-001" else at_zero
    assert expected in wanted
    assert {file for _, file, _ in found} == {expected[1]}


@pytest.mark.parametrize(
    ("size", "severity"),
    [(834, Severity.WARNING), (20, Severity.ERROR), (0, Severity.ERROR)],
)
def test_a_cut_checkpoint_is_an_error_only_without_all_times(
    root: Path, size: int, severity: Severity
) -> None:
    _cut("checkpoint", size)(root)
    (found,) = check_checkpoint(list_store(str(root)), SUMMARY)
    assert (found.invariant.id, found.severity) == ("INV-CHECK-001", severity)


def test_a_configuration_file_that_a_broker_renames_after_the_listing_is_missing(
    root: Path,
) -> None:
    _put(TOPICS, b"{")(root)
    store = list_store(str(root))
    _remove(TOPICS)(root)
    assert config_file(store, TOPICS) == ConfigFile(path=TOPICS)
    assert list(check_configuration(store)) == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (TOPICS, b'\xef\xbb\xbf{"topicConfigTable":{},\n}'),
        (TOPICS, b'{"topicConfigTable":{}}\n' + bytes(100)),
        ("config/._topics.json", b"\0\5\x16\7"),
    ],
    ids=["edited by hand", "extended by zeros", "hidden"],
)
def test_a_configuration_file_that_changes_nothing_for_a_broker_has_no_finding(
    root: Path, name: str, data: bytes
) -> None:
    _put(name, data)(root)
    assert list(check_configuration(list_store(str(root)))) == []


@pytest.mark.parametrize(
    ("copy", "severity"),
    [(b'{"topicConfigTable":{}}', Severity.UNFINISHED), (b"", Severity.ERROR)],
)
def test_a_configuration_file_that_a_kill_cuts_may_have_a_copy(
    root: Path, copy: bytes, severity: Severity
) -> None:
    _put("config/topics.json", b'{"topicConfig')(root)
    _put("config/topics.json.bak", copy)(root)
    found = check_configuration(list_store(str(root)))
    assert {one.severity for one in found if one.invariant.id == "INV-CONFIG-001"} == {
        severity
    }


@pytest.mark.parametrize(
    "name", ["checkpoint", "config/topics.json", "commitlog/00000000000000049152"]
)
def test_a_pipe_in_place_of_a_file_makes_a_store_unreadable(
    root: Path, name: str
) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).unlink(missing_ok=True)
    os.mkfifo(root / name)
    with pytest.raises(NotAStoreError, match=f"{name} cannot be read: it is a pipe"):
        list_store(str(root))


@pytest.mark.parametrize("offsets", CONSUMED)
def test_a_checkpoint_of_zeros_is_behind_after_an_orderly_stop(
    root: Path, offsets: str
) -> None:
    (root / "checkpoint").write_bytes(encode_checkpoint(Checkpoint()))
    own = root / "config/consumerOffset.json"
    own.write_text('{"offsetTable":{}}')
    queue = QueueSummary(count=300, matched_count=300, first=0, last=299, hash=0)
    last_ms = BEGAN_AT_MS + UNFLUSHED_MS_MAX
    summary = replace(SUMMARY, units={("Orders", 0): queue}, last_stored_at_ms=last_ms)
    found = list(check_checkpoint(list_store(str(root)), summary))
    places = [(one.invariant.id, one.severity, one.offset) for one in found]
    assert places == [("INV-CHECK-003", Severity.WARNING, 8)]
    longer = replace(summary, last_stored_at_ms=last_ms + 1)
    found = list(check_checkpoint(list_store(str(root)), longer))
    assert [one.offset for one in found] == [0, 8]
    own.write_text("{")
    found = list(check_checkpoint(list_store(str(root)), longer))
    assert [one.offset for one in found] == [0]  # it may be of 5.5
    (root / offsets).write_text('{"pullOffsetTable":{}}')
    found = list(check_checkpoint(list_store(str(root)), longer))
    assert [one.offset for one in found] == [0]  # 5.5 does not write it at a stop
    (root / "abort").touch()
    assert list(check_checkpoint(list_store(str(root)), longer)) == []


@pytest.mark.parametrize("directory", ["consumequeue_ext", "batchconsumequeue"])
def test_the_files_of_extensions_and_batch_queues_have_one_size(
    directory: str, root: Path
) -> None:
    sizes = {"Orders": 4600, "Bills": 4600, "Short": 100, "Unfinished": 0}
    for topic, size in sizes.items():
        _put(f"{directory}/{topic}/0/{0:020d}", bytes(size))(root)
    found = list(check_files(list_store(str(root))))
    assert [(one.invariant.id, one.file, one.offset) for one in found] == [
        ("INV-FILE-002", f"{directory}/Short/0/{0:020d}", 100)
    ]


def test_a_configured_size_overrules_what_the_files_say(root: Path) -> None:
    found = list(check_files(list_store(str(root)), log_size=20_000))
    assert {finding.invariant.id for finding in found} == {
        "INV-FILE-002",
        "INV-FILE-003",
    }


@pytest.mark.parametrize("directory", ["commitlog", QUEUE])
def test_an_empty_last_file_is_one_of_a_broker_that_was_killed(
    root: Path, directory: str
) -> None:
    before, last = sorted((root / directory).iterdir())[-2:]
    last.write_bytes(b"")
    (found,) = check_files(list_store(str(root)))
    assert found.settled(is_open=True).severity is Severity.WARNING
    assert found.settled(is_open=False).severity is Severity.ERROR
    last.write_bytes(before.read_bytes())
    before.write_bytes(b"")
    found = next(check_files(list_store(str(root))))
    assert found.settled(is_open=True).severity is Severity.ERROR


@pytest.mark.parametrize("name", ["missing", "file", "empty"])
def test_what_is_no_store_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotAStoreError, match=name):
        list_store(str(tmp_path / name))


def test_a_name_that_is_not_utf_8_is_found_beside_the_files_of_a_broker(
    tmp_path: Path,
) -> None:
    queue = tmp_path / "consumequeue" / os.fsdecode(b"T\xfe") / "0"
    for directory in (tmp_path / "commitlog", tmp_path / "config", queue):
        directory.mkdir(parents=True)
        (directory / os.fsdecode(b"\xff.json")).write_bytes(b"1")
    (queue / f"{0:020}").write_bytes(b"1")
    store = list_store(str(tmp_path))
    assert store.queue_files() == store.settings == ()
    found = {(one.invariant.id, one.file) for one in check_files(store)}
    assert found == {
        ("INV-FILE-001", r"commitlog/\xff.json"),
        ("INV-FILE-001", r"consumequeue/T\xfe/0/\xff.json"),
    }


def test_a_queue_that_there_cannot_be_is_passed_over_as_a_broker_does(
    root: Path,
) -> None:
    known = list_store(str(root)).queue_files()
    shutil.copytree(root / QUEUE, root / f"consumequeue/Orders/{2**31}")
    assert list_store(str(root)).queue_files() == known
    assert _found(root) == []


def test_a_file_without_permission_is_named(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = StoreBuilder()
    builder.put("Orders")
    builder.write(tmp_path)
    log = str(tmp_path / "commitlog" / f"{0:020}")
    monkeypatch.setattr(os, "access", lambda path, _mode: str(path) != log)
    with pytest.raises(NotAStoreError, match=f"^{log} cannot be read: Permission"):
        audit_store(spark, str(tmp_path))


def test_a_file_that_a_broker_renames_meanwhile_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = StoreBuilder().write(tmp_path)
    draft = store / "config" / "transactionMetrics.tmp"
    draft.parent.mkdir(exist_ok=True)
    draft.touch()
    access = os.access

    def renamed(path: Path, mode: int) -> bool:
        draft.unlink(missing_ok=True)
        return access(path, mode)

    monkeypatch.setattr(os, "access", renamed)
    assert str(store) in list_store(str(store)).url


def test_a_directory_without_permission_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"Cannot list directory '{tmp_path}'. Detail: [errno 13] Permission denied"

    def denied(_url: str) -> None:
        raise PermissionError(errno.EACCES, text)

    monkeypatch.setattr("spark_checks.store_files.open_filesystem", denied)
    with pytest.raises(NotAStoreError) as error:
        list_store(str(tmp_path))
    assert str(error.value) == f"{tmp_path} cannot be read: Permission denied"


def test_a_checkpoint_beside_a_log_without_records_names_no_time(
    tmp_path: Path,
) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "checkpoint").write_bytes(AHEAD)
    store = list_store(str(tmp_path))
    (found,) = check_checkpoint(store, SurveySummary())
    assert found.expected == "logics_ms at least 0"


def test_a_file_that_vanishes_during_an_audit_is_named(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = StoreBuilder()
    builder.put("Orders")
    builder.write(tmp_path)
    file = tmp_path / "commitlog" / f"{0:020}"
    listed = list_store(str(tmp_path))
    file.unlink()
    monkeypatch.setattr("spark_checks.audit.list_store", lambda _url: listed)
    with pytest.raises(NotAStoreError, match=f"^{file} cannot be read: No such file"):
        audit_store(spark, str(tmp_path))


def test_the_times_of_full_index_files_are_flushed_in_any_order(root: Path) -> None:
    for number in (1, 2, 3):
        header = replace(SETTLED, end_stored_at_ms=BEGAN_AT_MS + number)
        _put(f"{INDEX[:-1]}{number}", encode_header(header) + EMPTY_INDEX)(root)
    since_ms = {1: 0, 2: 0, 3: 0, 4: 1, -BEGAN_AT_MS: 1}
    for index_ms, count in since_ms.items():
        times = Checkpoint(logics_ms=BEGAN_AT_MS, index_ms=BEGAN_AT_MS + index_ms)
        (root / "checkpoint").write_bytes(encode_checkpoint(times))
        found = list(check_checkpoint(list_store(str(root)), SUMMARY))
        assert [one.offset for one in found] == [16] * count


def test_a_full_index_file_is_flushed_when_the_next_one_is_created(
    root: Path,
) -> None:
    # The file before it has expired, and the checkpoint has the end time of that one.
    header = replace(SETTLED, end_stored_at_ms=BEGAN_AT_MS + 2)
    _put(f"{INDEX[:-1]}2", encode_header(header) + EMPTY_INDEX)(root)
    times = Checkpoint(logics_ms=BEGAN_AT_MS, index_ms=BEGAN_AT_MS + 1)
    (root / "checkpoint").write_bytes(encode_checkpoint(times))
    assert list(check_checkpoint(list_store(str(root)), SUMMARY)) == []


def test_a_slave_that_has_not_received_its_topics_yet_is_no_error(root: Path) -> None:
    queue = QueueSummary(count=300, matched_count=300, first=0, last=299, hash=0)
    summary = replace(SUMMARY, units={("Orders", 0): queue})
    _remove(TOPICS)(root)
    for name, severity in {
        "transactionMetrics": Severity.WARNING,
        "consumerOffset.json": Severity.WARNING,
        "subscriptionGroup.json": Severity.ERROR,
    }.items():
        _put(f"config/{name}", b'{"offsetTable":{},"subscriptionGroupTable":{}}')(root)
        found = list(check_config_tables(list_store(str(root)), summary))
        assert [(one.file, one.severity) for one in found] == [(TOPICS, severity)]


def test_the_files_of_a_log_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each index file needs the log files of its offsets, and there are thousands.
    names = [f"commitlog/{number:020}" for number in range(0, 900, 100)]
    files = tuple(StoreFile(path=name, size=100) for name in names)
    store = Store(url="/none", files=files, directories=frozenset({"commitlog"}))
    listed: list[str] = []
    under = Store.under

    def noted(self: Store, directory: str) -> tuple[StoreFile, ...]:
        listed.append(directory)
        return under(self, directory)

    monkeypatch.setattr(Store, "under", noted)
    found = [store.log_file_at(offset) for offset in (250, 899, 900, -1)]
    assert found == [files[2], files[8], None, None]
    assert store.min_offset == 0
    assert listed == ["commitlog"]


def test_of_two_index_files_the_one_with_an_impossible_size_is_wrong(
    root: Path,
) -> None:
    for number, more in ((1, b"x"), (2, b"")):
        _put(f"{INDEX[:-1]}{number}", encode_header(SETTLED) + EMPTY_INDEX + more)(root)
    found = [file for name, file, _ in _found(root) if name == "INV-INDEX-002"]
    assert found == [f"{INDEX[:-1]}1"]

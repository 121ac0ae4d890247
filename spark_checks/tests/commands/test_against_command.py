"""
``rmqc audit A --against B`` on a recorded store and on copies of it.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from spark_checks.file_systems import is_same_place
from spark_checks.tests.building import flip, overwrite
from spark_checks.tests.commands.command import Runner, run_alone
from spec.store.commit_log import PlacedRecord, scan
from spec.store.message_record import encode_record

ROOT = Path(__file__).resolve().parents[3]
STORE = ROOT / "fixtures" / "store" / "4.6.0-stopped"
LOG = "commitlog/00000000000000000000"
AGAINST = ",".join(f"INV-AGAINST-{number:03}" for number in range(1, 5))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a writable copy of a store."""
    return copied(STORE, tmp_path / "copy")


def copied(store: Path, place: Path) -> Path:
    """Copy *store* to *place*, and return the copy."""
    shutil.copytree(store, place, copy_function=shutil.copyfile)
    return place


def document_of(result: Result) -> dict[str, Any]:
    """Return the JSON output of a run."""
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def records_of(store: Path) -> tuple[PlacedRecord, ...]:
    """Return the records in the first file of the log."""
    return scan((store / LOG).read_bytes()).records


def cut_log(store: Path, *, kept: int) -> PlacedRecord:
    """Leave *count* records in *store*, and return the first missing one."""
    first = records_of(store)[kept]
    size = (store / LOG).stat().st_size
    overwrite(store, LOG, first.offset, b"\0" * (size - first.offset))
    for later in sorted((store / "commitlog").iterdir())[1:]:
        later.unlink()
    return first


@pytest.mark.slow
@pytest.mark.parametrize("name", ["4.6.0-stopped", "5.4.0-killed"])
def test_a_copy_is_the_same(run_audit: Runner, tmp_path: Path, name: str) -> None:
    copy = copied(STORE.parent / name, tmp_path / "copy")
    result = run_audit(copy, "--against", STORE.parent / name, "--format", "json")
    assert result.exit_code == 0
    found = document_of(result)
    assert (found["verdict"], found["violations"]) == ("pass", [])
    against = found["against"]
    assert against["verdict"] == "same"
    assert against["first_divergence"] is None
    assert against["ranges"] == []
    assert against["common"]["end"] == against["here"]["end"]
    held = [q for topic in against["topics"].values() for q in topic["queues"].values()]
    assert sum(queue["here"]["messages"] for queue in held) > 50
    assert [q for q in held if q["here"] != q["there"] or q["only_there"]] == []


@pytest.mark.slow
def test_a_changed_byte_is_said_in_every_form(run_audit: Runner, copy: Path) -> None:
    hit = next(one for one in records_of(copy)[5:] if len(one.record.body) > 8)
    data = (copy / LOG).read_bytes()
    at = data.index(hit.record.body, hit.offset) + 3
    flip(copy, LOG, at)
    result = run_audit(copy, "--against", STORE, "--format", "json")
    assert result.exit_code == 1
    found = document_of(result)
    ids = [one["invariant"] for one in found["violations"]]
    assert ids == ["INV-LOG-002", "INV-AGAINST-001"]
    first = found["against"]["first_divergence"]
    assert (first["file"], first["offset"], first["field"]) == (LOG, str(at), "body")
    assert found["against"]["ranges"][0]["changed"] == 1
    options = (copy, "--against", STORE, "--only", AGAINST)
    for form in ("table", "html"):
        output = run_audit(*options, "--format", form)
        assert output.exit_code == 1
        words = " ".join(output.stdout.split())
        assert f"differ first at {LOG} @ {at}" in words
        assert "INV-AGAINST-001" in words
        assert "Decide which store is right" in words


@pytest.mark.slow
def test_a_store_cut_at_a_record_is_behind_and_the_whole_one_ahead(
    run_audit: Runner, copy: Path
) -> None:
    first = cut_log(copy, kept=40)
    behind = run_audit(copy, "--against", STORE, "--only", AGAINST, "--format", "json")
    ahead = run_audit(STORE, "--against", copy, "--format", "json")
    assert (behind.exit_code, ahead.exit_code) == (0, 0)
    one, other = document_of(behind)["against"], document_of(ahead)["against"]
    assert (one["verdict"], other["verdict"]) == ("behind", "ahead")
    assert one["common"]["end"] == str(first.offset)
    assert one["there"] == other["here"]
    assert one["there"]["messages_ahead"] > 0
    assert "This store is behind by" in one["says"]


@pytest.mark.slow
def test_a_store_that_went_on_otherwise_has_lost_messages(
    run_audit: Runner, copy: Path, tmp_path: Path
) -> None:
    """The case of a slave that became a master and was written to."""
    other = copied(copy, tmp_path / "other")
    gone = cut_log(copy, kept=40)
    wrong = gone.record
    again = replace(wrong, body=b"another message", properties="", born_at_ms=1)
    overwrite(copy, LOG, gone.offset, encode_record(again))
    result = run_audit(copy, "--against", other, "--only", AGAINST, "--format", "json")
    assert result.exit_code == 1
    found = document_of(result)
    assert found["against"]["first_divergence"]["record_offset"] == str(gone.offset)
    assert {one["invariant"] for one in found["violations"]} == {
        "INV-AGAINST-001",
        "INV-AGAINST-002",
    }
    queue = found["against"]["topics"][wrong.topic]["queues"][str(wrong.queue_id)]
    assert (queue["only_here"], queue["only_there"]) == (1, 1)


def test_what_cannot_be_compared_is_one_line_and_exit_code_2(
    copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(copy)
    (tmp_path / "empty").mkdir()
    for other, output in {
        tmp_path / "link": "cannot be compared with itself",
        copy: "cannot be compared with itself",
        tmp_path / "empty": "empty is not a store",
        tmp_path / "nowhere": "nowhere is not a directory",
        copy / LOG: "is not a directory",
    }.items():
        result = run_alone(copy, "--against", other)
        assert result.exit_code == 2
        assert result.output.count("\n") == 1
        assert output in result.output
    for options in ((STORE, copy, "--against", copy), (copy, "--score", copy / LOG)):
        result = run_alone(*options, "--against", STORE)
        assert result.exit_code == 2
        assert "--against" in result.output


def test_a_place_is_the_same_by_any_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert is_same_place(f"{tmp_path}/a/", f"{tmp_path}/b/../a")
    assert is_same_place(str(tmp_path / "a"), f"file://{tmp_path}/a")
    assert not is_same_place(str(tmp_path / "a"), str(tmp_path))

"""The first file of known failures is written from a run, and the next run obeys it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import NO_REPORT
from conformance.harness.report.known_failures import Known, load_known
from conformance.harness.report.known_failures_file import known_text
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import Record, Verdict
from conformance.meta.made_suite import FAILS, PASSES, known_file, run_faulty

DESCRIPTION = {"text": "jvm:4.6.0", "release": "4.6.0"}


def verdict(
    clause: str,
    outcome: Outcome,
    *,
    found: str = "",
    reason: str = "",
) -> Verdict:
    """Return the verdict of a test about one clause."""
    failed = outcome in (Outcome.FAIL, Outcome.KNOWN)
    return Verdict(
        test="t",
        clauses=[clause],
        outcome=outcome,
        duration_s=0.0,
        blamed=[clause] if failed else [],
        found=found,
        reason=reason,
    )


def test_a_run_writes_the_file_that_the_next_one_obeys(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    file = tmp_path / "new" / "known.toml"
    first = run_faulty(tmp_path / "first", PASSES + FAILS, f"--write-known={file}")
    assert first.code == 1
    (entry,) = tomllib.loads(file.read_text(encoding="utf-8"))["known"]
    assert entry["clause"] == "WIRE-FRAME-002"
    assert entry["reason"] == "not explained yet: expected code: 2, found code: 1"
    assert "target" not in entry  # another run's cluster listens elsewhere
    second = run_faulty(tmp_path / "second", PASSES + FAILS, f"--known={file}")
    assert second.outcomes["WIRE-FRAME-002"] == "known"
    assert second.code == 0
    third = run_faulty(tmp_path / "third", FAILS, f"--write-known={file}")
    assert "is there already" in third.output
    assert third.report is NO_REPORT


def test_reasons_are_kept_and_stale_entries_left_out(tmp_path: Path) -> None:
    known = (
        Known(clause="WIRE-FRAME-001", reason='says "no"', link="http://a/1"),
        Known(clause="WIRE-FRAME-002", reason="mended"),
        Known(clause="WIRE-FRAME-003", reason="now and then", flaky=True),
    )
    record = Record(known=known)
    record.add(verdict("WIRE-FRAME-001", Outcome.KNOWN, reason='says "no"'))
    record.add(verdict("WIRE-FRAME-002", Outcome.PASS))
    record.add(verdict("WIRE-FRAME-003", Outcome.KNOWN, reason="now and then"))
    record.add(verdict("WIRE-FRAME-004", Outcome.FAIL, found="a\nb" * 99))
    file = tmp_path / "known.toml"
    file.write_text(
        known_text(record.results(DESCRIPTION), known, DESCRIPTION), encoding="utf-8"
    )
    first, new, flaky = load_known(file)
    assert (first.reason, first.link) == ('says "no"', "http://a/1")
    assert (new.clause, new.target, new.release) == (*("WIRE-FRAME-004", "*", "4.6.0"),)
    assert "\n" not in new.reason
    assert flaky == known[2]


def test_the_file_of_a_client_names_its_own_command() -> None:
    description = {"text": "client:node a.js", "release": "4.6.0"}
    lines = known_text([], (), description).splitlines()
    head = " ".join(line.removeprefix("# ") for line in lines)
    assert "Written by `rmqc test-client --write-known`" in head
    assert "`rmqc test-client --known THIS` then fails" in head
    assert 'a pattern such as target = "client:*".' in head


def test_reasons_are_equal_in_every_run() -> None:
    texts = []
    for opaque, topic in ((70, "topic_f3830a9f_43"), (5523, "topic_131ce946_2119")):
        record = Record()
        record.add(
            verdict(
                "WIRE-FRAME-002",
                Outcome.FAIL,
                found=f"waited for a response with opaque {opaque} about {topic}",
            )
        )
        texts.append(known_text(record.results(DESCRIPTION), (), DESCRIPTION))
    assert texts[0] == texts[1]
    assert "a response with opaque # about topic_#" in texts[0]


def test_entries_about_other_targets_are_counted(tmp_path: Path) -> None:
    option = known_file(tmp_path, "WIRE-FRAME-002")
    file = Path(option.partition("=")[2])
    text = file.read_text(encoding="utf-8").replace("127.*", "cmd:my.toml")
    file.write_text(text, encoding="utf-8")
    ended = run_faulty(tmp_path, FAILS, option)
    printed = " ".join(ended.output.split())
    counted = "known failures: 1 of 1 is about other targets or releases, such as"
    assert f"{counted} target 'cmd:my.toml', release '*'" in printed
    assert ended.code == 1


@pytest.mark.parametrize("jobs", ["0", "1"])
def test_a_clause_with_tests_left_out_is_not_stale(tmp_path: Path, jobs: str) -> None:
    option = known_file(tmp_path, "WIRE-FRAME-001")
    two = PASSES + PASSES.replace("def test_", "def test_other_")
    for name in ("every", "some"):
        (tmp_path / name).mkdir()
    every = run_faulty(tmp_path / "every", two, option, f"-n{jobs}")
    assert every.outcomes["WIRE-FRAME-001"] == "fail"
    assert "it passes: remove the entry" in every.output
    some = run_faulty(tmp_path / "some", two, option, f"-n{jobs}", "-k", "other")
    assert some.outcomes["WIRE-FRAME-001"] == "pass"
    assert some.code == 0


def test_what_is_flaky_may_pass_and_may_fail(tmp_path: Path) -> None:
    for name in ("passes", "fails"):
        folder = tmp_path / name
        folder.mkdir()
        file = Path(known_file(folder, "WIRE-FRAME-001").partition("=")[2])
        text = file.read_text(encoding="utf-8").replace("[[known]]", "[[flaky]]")
        file.write_text(text, encoding="utf-8")
        fails = FAILS.replace("FRAME-002", "FRAME-001")
        ended = run_faulty(
            folder, PASSES if name == "passes" else fails, f"--known={file}"
        )
        assert ended.code == 0, ended.output


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('clause = "WIRE-FRAME-001"\nreason = ""', "needs a text as reason"),
        ('clause = "WIRE-FRAME-001"\nreason = 3', "needs a text as reason"),
        ('reason = "so"', "needs a text as clause"),
        ('clause = "WIRE-FRAM-001"\nreason = "so"', "no clause WIRE-FRAM-001"),
        ('clause = "WIRE-FRAME-001"\nwhy = "so"', "may only have clause, link"),
    ],
)
def test_an_invalid_entry_is_one_line_of_text(
    tmp_path: Path, entry: str, message: str
) -> None:
    file = tmp_path / "known.toml"
    file.write_text(f"[[known]]\n{entry}\n", encoding="utf-8")
    with pytest.raises(pytest.UsageError) as error:
        load_known(file)
    text = str(error.value)
    assert text.startswith(f"--known {file}: [[known]] entry 1")
    assert message in text
    assert "{" not in text

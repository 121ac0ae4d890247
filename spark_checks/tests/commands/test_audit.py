"""
Recorded stores have no findings, and output has the promised form.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cli.commands.stores import audit as audit_command
from cli.pages.audit import report
from cli.pages.audit.audited_store import AuditedStore
from cli.pages.audit.start_forecast import StartForecast
from rocketmq_conformance.paths import module_command
from spark_checks.audit import Audit, NotAudited, audit_store
from spark_checks.broker_conf import ConfError, read_broker_conf
from spark_checks.findings import INVARIANTS, Finding, Invariant, Severity
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.system_topics import LEDGER_INVARIANTS
from spark_checks.session.java_home import wrap_java
from spark_checks.store_files import Store
from spark_checks.survey.summary import SurveySummary
from spark_checks.tests.building import StoreBuilder, flip
from spark_checks.tests.commands.command import run_alone
from spark_checks.tests.recorded_stores import FIXTURES, ROLLED, STORES
from spark_checks.tests.slow import slow_but
from spec.registry import all_clauses

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(__file__).resolve().parents[2]
COMMAND_INDENT = " " * 7
"""Begin of the lines with a command to copy."""


@pytest.mark.parametrize(
    "store",
    slow_but([*STORES, *ROLLED], STORES[0], ROLLED[0], STORES[-2]),
    ids=lambda path: path.relative_to(FIXTURES).as_posix(),
)
def test_a_real_store_is_silent(spark: SparkSession, store: Path) -> None:
    audit = audit_store(spark, str(store))
    assert [found.message for found in audit.findings] == []
    assert audit.summary["commitlog"]


def test_every_invariant_rests_on_a_clause() -> None:
    assert {one.requirement for one in INVARIANTS.values()} <= set(all_clauses())


def test_a_finding_about_a_row_has_all_its_texts() -> None:
    paths = (path for path in PACKAGE.rglob("*.py") if "tests" not in path.parts)
    sources = [path.read_text("utf-8") for path in paths]
    of_rows = {
        name
        for source in sources
        if "spark_checks.tables.finding_rows import" in source
        for name in re.findall('"(INV-[A-Z]+-[0-9]{3})"', source)
    }
    assert {name.split("-")[1] for name in of_rows} == {
        *("AGAINST", "BATCH", "CQ", "EXT", "INDEX", "LIGHT", "LOG"),
    }
    bare = Invariant(id="", title="", requirement="", cost="")
    for one in (INVARIANTS[name] for name in of_rows):
        assert one.found != bare.found, one.id
    for one in (INVARIANTS[name] for name in (*of_rows, *LEDGER_INVARIANTS)):
        assert one.message != bare.message, one.id
        assert one.expected != bare.expected, one.id


def test_a_severity_among_the_values_of_texts_is_refused() -> None:
    with pytest.raises(TypeError, match="severity"):
        file_finding("INV-CHECK-001", "checkpoint", (0, 0), found="", severity="error")
    with pytest.raises(KeyError, match="found"):
        file_finding("INV-CHECK-001", "checkpoint", (0, 0))


def _damaged(**changes: Any) -> AuditedStore:
    finding = Finding(
        invariant=INVARIANTS["INV-FILE-001"],
        severity=Severity.ERROR,
        file="commitlog/<b>",
        offset=2**40,
        length=1,
        expected="x",
        found="y",
        message="It is <script>.",
    )
    summary = {
        "commitlog": {
            "files": 1,
            "records": 2,
            "bytes": 3,
            "min_offset": "0",
            "max_offset": "9",
        },
        "topics": {"T": {"queues": {"0": {"min": "0", "max": "2", "messages": 2}}}},
        "index": {"files": 0, "entries": 0},
        "config": {},
        "groups": {},
        "handed_back": {},
        "left_open": False,
    }
    audit = Audit(
        store="/store",
        summary=summary,
        survey_summary=SurveySummary(),
        listing=Store(url="/store", files=(), directories=frozenset()),
        findings=(finding,),
    )
    return AuditedStore(audit=replace(audit, **changes))


def test_json_has_offsets_as_strings() -> None:
    found = json.loads(report.as_json([_damaged()]))
    assert found["verdict"] == "fail"
    assert found["violations"][0]["offset"] == str(2**40)
    assert set(found["violations"][0]) == {
        "invariant", "severity", "file", "offset", "length", "expected", "found",
        "message", "requirement", "cost",
    }  # fmt: skip


def test_html_is_escaped_and_a_table_has_no_colors() -> None:
    page = report.as_html([_damaged()])
    assert "It is &lt;script&gt;." in page
    assert "<script>" not in page
    assert "\x1b" not in report.as_table([_damaged()])


@pytest.mark.parametrize("is_styled", [False, True])
def test_control_characters_of_names_are_replaced(*, is_styled: bool) -> None:
    [finding] = _damaged().audit.findings
    hostile = replace(finding, message="Topic \x1b[5m\x07\nT.")
    found = _damaged(store="/st\x1b[5more", findings=(hostile,))
    page = report.as_html([found])
    table = report.as_table([found], is_styled=is_styled)
    for text in (page, table):
        assert "Topic \ufffd[5m\ufffd\ufffdT." in text
        assert "\x1b[5m" not in text
    assert ("\x1b[1m/st\ufffd[5more\x1b[0m\n" in table) == is_styled


@pytest.mark.parametrize("columns", [60, 200])
def test_lines_fit_into_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    forecast = StartForecast(release="4.6.0", lost=(("T" * 20, 10), ("U" * 20, 9)))
    audit_command._write([replace(_damaged(), forecast=forecast)], "table", None)
    lines = capsys.readouterr().out.splitlines()
    commands = [line for line in lines if line.startswith(COMMAND_INDENT)]
    assert commands
    assert max(len(line) for line in lines if line not in commands) <= columns


CUT_SHORT = StartForecast(release="4.6.0", lost=(("T", 9),), unreadable=(("T", 9),))
"""Units of messages that a crash, or a copy of a running store, has left out."""


@pytest.mark.parametrize(
    "forecast",
    [
        StartForecast(release="4.6.0", lost=(("T", 1),)),
        StartForecast(release="4.6.0", refusal="commitlog/x is no file"),
        StartForecast(release="4.6.0", invisible=2),
        replace(CUT_SHORT, lacks_files=True),
    ],
)
def test_warnings_are_findings_where_a_start_does_harm(forecast: StartForecast) -> None:
    warning = replace(_damaged().audit.findings[0], severity=Severity.WARNING)
    clean = _damaged(findings=(warning,))
    assert clean.is_clean
    harmed = replace(clean, forecast=forecast)
    assert not harmed.is_clean
    assert json.loads(report.as_json([harmed]))["verdict"] == "fail"
    table = report.as_table([harmed])
    assert "fail: 0 errors, 1 warning, and a harmful start" in table
    assert "repairs the warnings by itself" not in table
    for harmless in (StartForecast(release="4.6.0"), CUT_SHORT):
        assert replace(clean, forecast=harmless).is_clean


def test_several_stores_begin_with_a_row_for_each() -> None:
    clean = _damaged(store="s3://fine/store", findings=())
    gone = NotAudited(store="/gone", reason="/gone is lost")
    several: list[AuditedStore | NotAudited] = [_damaged(), clean, gone]
    table = report.as_table(several).splitlines()
    assert table[:2] == [
        "3 stores: 1 fail, 1 pass, 1 unreadable",
        f"  fail            1 error    0 warnings  {_damaged().audit.store}",
    ]
    assert [line for line in table if "s3://fine" in line] == [
        "  pass           0 errors    0 warnings  s3://fine/store"
    ]
    assert table[table.index(f"  unreadable{' ' * 29}/gone") + 1].endswith("is lost")
    page = report.as_html(several, note="By hand.")
    assert page.count('<section id="store-') == page.count('href="#store-') == 2
    assert "<footer>By hand.</footer>" in page
    assert report.as_lines(several).splitlines()[1:] == [
        "s3://fine/store: pass, 0 errors, 0 warnings",
        "/gone: unreadable, 0 errors, 0 warnings. /gone is lost",
    ]


def test_a_wrong_path_or_id_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    nothing = run_alone(tmp_path)
    assert nothing.exit_code == 2
    assert nothing.output.count("\n") == 1
    assert "is not a store" in nothing.output
    (tmp_path / "dledger-n0").mkdir()
    (tmp_path / "consumequeue").mkdir()
    assert "of a file in dledger-n0/data" in run_alone(tmp_path).output
    unknown = run_alone(tmp_path, "--only", "INV-X-1")
    assert unknown.exit_code == 2
    assert "INV-X-1" in unknown.output
    for each in (run_alone(tmp_path, tmp_path / "other"), run_alone()):
        assert each.exit_code == 2
    unwritten = run_alone(FIXTURES, "--out", tmp_path / "no" / "page")
    assert unwritten.exit_code == 2
    assert f"there is no directory {tmp_path / 'no'}" in unwritten.output


def test_settings_with_which_no_broker_starts_are_one_line(tmp_path: Path) -> None:
    settings = tmp_path / "broker.conf"
    settings.write_text("brokerRole=KING\n", encoding="utf-8")
    result = run_alone(STORES[0], "--broker-conf", settings)
    assert result.exit_code == 2
    assert result.output == (
        f"Error: {settings}: brokerRole is 'KING', not one of ASYNC_MASTER, "
        "SYNC_MASTER, SLAVE\n"
    )


@pytest.mark.slow
def test_one_bad_store_of_several_ends_nothing_and_pipes_get_json_alone(
    tmp_path: Path,
) -> None:
    builder = StoreBuilder()
    hit = [builder.put("Orders") for _ in range(5)][2]
    flip(builder.write(tmp_path / "bad"), hit.log_file, hit.position + 90)
    builder.write(tmp_path / "good")
    (tmp_path / "empty").mkdir()
    names = ["bad", "good", "empty"]
    command = module_command("cli", "audit", *names, "--format", "json")
    run = subprocess.run(
        command,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert (run.returncode, run.stderr) == (1, b"")
    bad, good, empty = json.loads(run.stdout)
    assert (bad["verdict"], good["verdict"]) == ("fail", "pass")
    assert (empty["verdict"], empty["store"]) == ("unreadable", "empty")
    assert "is not a store" in empty["reason"]
    assert bad["violations"][0]["invariant"] == "INV-LOG-002"


@pytest.mark.slow
def test_advice_follows_the_forecast_of_a_start(tmp_path: Path) -> None:
    store = shutil.copytree(FIXTURES / "store" / "4.6.0-stopped", tmp_path / "store")
    with (store / "commitlog" / f"{0:020}").open("r+b") as file:
        file.seek(16_384)
        file.write(bytes(4096))
    words = module_command("cli")
    audit, recover = (
        json.loads(
            subprocess.run(
                [*words, *command, "--format", "json"],
                cwd=ROOT,
                capture_output=True,
                check=False,
                timeout=300,
            ).stdout
        )
        for command in (
            ("audit", str(store), "--release", "4.9.7"),
            ("recover", str(store), "--release", "4.9.7"),
        )
    )
    lost = recover["totals"]["lost"]
    assert audit["forecast"]["lost"] == lost > 100
    assert audit["headline"].startswith("The commit log is damaged in 1 place")
    unreadable, destroyed = (
        recover["totals"][name] for name in ("unreadable", "destroyed")
    )
    assert f" Already unreadable: {unreadable} messages: " in audit["headline"]
    assert f"a 4.9.7 broker loses {destroyed} messages: " in audit["headline"]
    assert audit["violations"][0]["invariant"] == "INV-LOG-001"
    steps = [*audit["first_steps"], *audit["next"]]
    commands = [command for step in steps for command in step["commands"]]
    assert f"rmqc recover {store} --release 4.9.7 --dry-run" in commands
    assert not [one for one in commands if one.startswith(("mv", "rm "))]


@pytest.mark.slow
def test_a_store_without_the_end_of_its_log_has_a_forecast(tmp_path: Path) -> None:
    store = shutil.copytree(FIXTURES / "store" / "4.6.0-killed", tmp_path / "store")
    for offset in (65_536, 131_072):
        (store / "commitlog" / f"{offset:020}").unlink()
    run = subprocess.run(
        [*module_command("cli"), "audit", str(store), "--format", "json"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=300,
    )
    audit = json.loads(run.stdout)
    assert {one["severity"] for one in audit["violations"]} == {"warning"}
    assert "its end may be missing" in audit["headline"]
    assert "Already unreadable: 63 messages: " in audit["headline"]
    assert audit["first_steps"][0]["do"].startswith("Start no broker on this store")


def test_a_broker_conf_gives_sizes_and_delays(tmp_path: Path) -> None:
    path = tmp_path / "broker.conf"
    path.write_text(
        "# gr\u00f6\u00dfe\nmapedFileSizeCommitLog=65536\n"
        "mapedFileSizeConsumeQueue = 390\nmessageDelayLevel=2s 1m\n",
        encoding="latin-1",
    )
    conf = read_broker_conf(path)
    assert (conf.commit_log_file_size, conf.queue_file_size) == (65_536, 400)
    assert conf.delays == {1: 2_000, 2: 60_000}
    path.write_text("mapedFileSizeCommitLog=many\n", encoding="utf-8")
    with pytest.raises(ConfError, match="many"):
        read_broker_conf(path)


def test_a_wrapped_java_is_spared_the_module_it_lacks(tmp_path: Path) -> None:
    java = tmp_path / "real-java"
    java.write_text('#!/bin/bash\nprintf "%s|" "$@"\n', encoding="utf-8")
    java.chmod(0o755)
    home = wrap_java(java, tmp_path / "home")
    options = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b"]
    output = subprocess.run(
        [home / "bin" / "java", *options], capture_output=True, check=True
    )
    assert output.stdout == b"-Xmx1g|-cp|a b|"

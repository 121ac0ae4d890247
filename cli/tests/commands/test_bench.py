"""``rmqc bench`` prints what was measured, and one clear line where it cannot."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from bench.measurements.codec import CodecReport, DecodedLog, DecodedWay
from bench.measurements.namesrv import Routes, RoutesReport, ShapeRoutes
from bench.report.result import Figures, Limit, Machine, Ratio, Report, Row
from cli.commands.bench import as_table, bench, routes_table
from cli.measure.result import rows_table

MEASURED = CodecReport(
    bench="codec",
    log=DecodedLog(
        records=55_461,
        bytes=67_107_810,
        origin="jvm:4.6.0",
        recorded_at="2026-11-01",
        sha256="00",
    ),
    machine=Machine(processors=2, python="3.11.7", java="17.0.15", rocketmq="4.6.0"),
    clock="processor time",
    rounds=5,
    ways=[
        DecodedWay(
            id="struct",
            description="the struct codec",
            records_per_s=482_427,
            rounds=[],
        )
    ],
    goals=[
        Ratio(way="struct", other="construct", ratio=19.5, at_least=20.0, met=False)
    ],
)


def test_a_table_has_rates_and_goals() -> None:
    text = as_table(MEASURED)
    assert "55461 records, 67107810 bytes, written by jvm:4.6.0" in text
    assert "482,427 records/s  struct" in text
    assert "19.50 x construct" in text
    assert text.endswith("target 20: MISSED")


def test_what_it_cannot_read_is_one_line(tmp_path: Path) -> None:
    run = CliRunner().invoke(bench, ["codec", "--store", str(tmp_path)])
    assert run.exit_code == 2
    assert run.stderr.startswith("Error: ")
    assert len(run.stderr.splitlines()) == 1


def test_a_table_of_routes_has_both_name_servers() -> None:
    figures = Routes(routes_per_s=79_630, p50_ms=0.435, p99_ms=4.488, rounds=[])
    text = routes_table(
        RoutesReport(
            bench="namesrv",
            topics=10_000,
            brokers=4,
            rounds=5,
            turn_s=3.0,
            machine=Machine(processors=2, python="3.11.7", rocketmq="4.6.0"),
            shapes=[
                ShapeRoutes(
                    connections=16, outstanding=4, reference=figures, apache=figures
                )
            ],
            goals=[
                Ratio(way="p99 x16", other="apache", ratio=1.2, at_least=1, met=True)
            ],
        )
    )
    assert "79,630 routes/s  p99    4.488 ms  reference  16 connections" in text
    assert "ms  apache " in text
    assert text.endswith("1.20 x apache     p99 x16       target 1: met")


def test_a_release_that_does_not_exist_is_one_line() -> None:
    run = CliRunner().invoke(bench, ["namesrv", "--release", "0.0.1"])
    assert run.exit_code == 2
    assert run.stderr.startswith("Error: --release: 0.0.1 is not one of 4.4")
    assert run.stderr.count("\n") == 1


def test_two_servers_are_shown_with_latencies_spread_and_verdicts() -> None:
    ours = {"per_s": 31_000, "p99_ms": 1.5, "own_mb": 60}
    theirs = {**ours, "per_s": 20_000}
    measured = Report(
        bench="send",
        machine=Machine(processors=2, python="3.11.7", load=0.5, rocketmq="4.6.0"),
        rounds=1,
        rows=[
            Row(
                id="sync x16",
                unit="messages/s",
                of="per_s",
                sides={
                    "reference": Figures(medians=ours, rounds=[31_000]),
                    "apache": Figures(medians=theirs, rounds=[20_000]),
                },
            )
        ],
        goals=[
            Ratio(
                way="sync x16 per_s",
                other="apache",
                ratio=1.55,
                spread=(1.4, 1.7),
                at_least=1.5,
                met=True,
            ),
            Limit(way="start", value=0.7, at_most=0.5, unit="s", met=False),
        ],
    )
    text = rows_table(measured)
    assert "31,000 messages/s  reference  sync x16  p99 1.50 ms  60 MB" in text
    assert "1.55 x apache     sync x16 per_s (1.4 to 1.7) target 1.5: met" in text
    assert text.endswith("0.7 s           start target at most 0.5: MISSED")


def test_batches_are_answered() -> None:
    run = CliRunner().invoke(bench, ["send", "--batch", "32", "--oneway"])
    assert run.exit_code == 2
    assert "--batch or --oneway, not both" in run.stderr


def test_thread_counts_are_counts() -> None:
    run = CliRunner().invoke(bench, ["send", "--threads", "1,no"])
    assert run.exit_code == 2
    assert "'1,no' is not a list of counts such as 1,16" in run.stderr

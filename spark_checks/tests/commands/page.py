"""
An audit made by hand, with every part that its page can show.
"""

from __future__ import annotations

from spark_checks.audit import Audit
from spark_checks.chart_data import Histogram
from spark_checks.findings import INVARIANTS, Finding, Severity
from spark_checks.store_files import Store, StoreFile
from spark_checks.survey.summary import SurveySummary

LOG_SIZE = 1 << 30
FILES = tuple(
    StoreFile(path=f"commitlog/{n * LOG_SIZE:020}", size=LOG_SIZE) for n in range(4)
)


def _finding(name: str, severity: Severity, offset: int, length: int) -> Finding:
    return Finding(
        invariant=INVARIANTS[name],
        severity=severity,
        file=FILES[1].path,
        offset=offset,
        length=length,
        expected="what the records beside it say " + "and more of it, " * 5,
        found="0x" + "7f" * 40,
        message="It is not as <script>document.title = 'x'</script> it should be.",
    )


def sample_audit() -> Audit:
    """Return the audit."""
    lags = {"orders_group": 120_000, "bills_group_" + "long" * 20: 3, "<i>idle": 0}
    queues = {str(n): {"min": "0", "max": "250", "messages": 250} for n in range(4)}
    return Audit(
        store="/data/broker-a/" + "store-with-a-long-name/" * 6,
        summary={
            "commitlog": {
                "files": len(FILES),
                "records": 3_400_000,
                "bytes": len(FILES) * LOG_SIZE,
                "min_offset": "0",
                "max_offset": str(3 * LOG_SIZE + LOG_SIZE // 3),
            },
            "topics": {
                "Orders": {"queues": queues},
                "%RETRY%" + "g" * 90: {"queues": {}},
            },
            "index": {"files": 1, "entries": 3_000_000},
            "config": {"topics": 2},
            "groups": {
                name: {"lag": lag, "topics": {"Orders": lag}}
                for name, lag in lags.items()
            },
            "handed_back": {
                "orders_group": {"retries": 41_000, "dead_letters": 7},
                "<i>" + "g" * 90: {"retries": 1, "dead_letters": 0},
            },
            "left_open": True,
        },
        findings=(
            _finding("INV-LOG-001", Severity.ERROR, 300_000_000, 90_000_000),
            _finding("INV-LOG-002", Severity.ERROR, 900_000_000, 400),
            _finding("INV-LOG-007", Severity.WARNING, 10_000_000, 400),
        ),
        listing=Store(url="/data", files=FILES, directories=frozenset()),
        survey_summary=SurveySummary(log_end=3 * LOG_SIZE + LOG_SIZE // 3),
        histograms={
            "sizes": Histogram(
                [
                    ("128 to 255 bytes", 40_000),
                    ("256 to 511 bytes", 900_000),
                    ("512 to 1,023 bytes", 2_000_000),
                    ("1,024 to 2,047 bytes", 0),
                    ("2,048 to 4,095 bytes", 900),
                ],
                ("128 bytes", "4,096 bytes"),
            ),
            "times": Histogram(
                [(f"from {n} h", 40_000 + (n * 7919) % 30_000) for n in range(60)],
                ("0 h", "60 h"),
            ),
        },
    )

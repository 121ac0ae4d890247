"""On a running cluster, tests that rely on a setting run only where it is so."""

from __future__ import annotations

from pathlib import Path

from conformance.harness.child_run.child_run import run_child
from conformance.harness.targets.target import parse_target
from conformance.meta.reports.test_outcomes import PRELUDE

ROOT = Path(__file__).parents[3]
RELYING = """
@pytest.mark.settings(enablePropertyFilter="false")
@pytest.mark.clause("WIRE-FRAME-001")
def test_relies_on_another_value(broker):
    pass

@pytest.mark.settings(enablePropertyFilter="true", madeUp="1")
@pytest.mark.clause("WIRE-FRAME-002")
def test_relies_on_the_same_value(broker):
    pass
"""


def test_a_test_that_relies_on_another_setting_has_no_verdict(tmp_path: Path) -> None:
    folder = tmp_path / "conformance" / "wire"
    folder.mkdir(parents=True)
    (folder / "test_made.py").write_text(PRELUDE + RELYING, encoding="utf-8")
    with parse_target("embedded:?enablePropertyFilter=true") as target:
        address = f"--target={target.namesrv}"
        ended = run_child([folder], f"--rootdir={folder}", address)
    assert ended.outcomes == {"WIRE-FRAME-001": "unsupported", "WIRE-FRAME-002": "pass"}
    assert ended.reasons["WIRE-FRAME-001"] == (
        "it needs the settings enablePropertyFilter=false (true there)"
    )


def test_a_changed_setting_is_put_back() -> None:
    with parse_target("embedded:") as target:
        assert target.namesrv is not None
        ended = run_child(
            [ROOT / "conformance" / "messaging" / "sql" / "test_sql_subscriptions.py"],
            f"--target={target.namesrv}",
            "--may-configure",
            "--only-clauses=PULL-SQL-012",
        )
        with target.connect_to_broker() as broker:
            after = broker.broker_settings()
    assert set(ended.outcomes.values()) == {"pass"}
    assert after["enablePropertyFilter"] == "false"

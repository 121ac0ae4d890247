"""On a running cluster, tests that rely on a setting run only where it is so."""

from __future__ import annotations

from pathlib import Path

from conformance.harness.child_run.child_run import run_child
from conformance.harness.targets.target import parse_target
from conformance.meta.test_outcomes import PRELUDE

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

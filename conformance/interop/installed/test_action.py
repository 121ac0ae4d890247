"""The GitHub action, installed and run as by the runner."""

from __future__ import annotations

import re
import shutil
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.harness.targets.started.embedded import SOURCES
from conformance.interop.tools.action_runner import Action
from conformance.interop.tools.installed_wheel import copy_sources, run

FILE = Path("packaging", "action", "action.yml")
PAGE = SOURCES / "docs" / "five-minutes.md"
MUTANT = "mutant:header_length_from_8_bits"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the action's sources, and rmqc as its first step leaves it.

    Dependencies come from this environment: pip gets the step's command with the option
    to install none.
    """
    home = tmp_path_factory.mktemp("action")
    copy_sources(home / "sources")
    action = Action(file=home / "sources" / FILE, job=home)
    install, _ = action.declared["runs"]["steps"]
    assert action.run_step(install, PIP_NO_DEPS="1") == 0, action.printed
    (library,) = home.glob("rmqc/lib/python*/site-packages")
    lent = f"{sysconfig.get_path('purelib')}\n"
    (library / "lent.pth").write_text(lent, encoding="utf-8")
    return home


@pytest.fixture
def action(home: Path) -> Action:
    """Return the action in a new job of the runner that has done the first step."""
    for name in ("work", "summary"):
        path = home / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return Action(file=home / "sources" / FILE, job=home)


def run_suites(action: Action, **inputs: str) -> int:
    """Run the second step with *inputs*."""
    action.inputs = inputs
    _, test = action.declared["runs"]["steps"]
    return action.run_step(test)


def test_a_target_that_conforms(action: Action) -> None:
    code = run_suites(
        action, target="embedded:", suites="wire", only="WIRE-FRAME-*", level="MUST"
    )
    assert code == 0, action.printed
    assert action.outputs == {"outcome": "conforms", "report": "rmqc-report"}
    assert "embedded:" in action.summary
    made = {path.name for path in (action.job / "work" / "rmqc-report").iterdir()}
    assert {"report.html", "report.json", "junit.xml", "badge.svg"} <= made


def test_findings_fail_the_step_and_known_ones_do_not(action: Action) -> None:
    fault = {"target": MUTANT, "only": "WIRE-FRAME-002", "report": "a report"}
    assert run_suites(action, **fault) == 1, action.printed
    assert action.outputs == {"outcome": "findings", "report": "a report"}
    assert "WIRE-FRAME-002" in action.summary
    words = ["test", f"--target={MUTANT}", "--only=WIRE-FRAME-002"]
    rmqc = f"{action.job}/rmqc/bin/rmqc"
    run([rmqc, *words, "--write-known=known.toml"], cwd=action.job / "work", codes=(1,))
    code = run_suites(action, known="known.toml", profile="4.6", **fault)
    assert code == 0, action.printed
    assert action.outputs["outcome"] == "conforms"


@pytest.mark.parametrize(
    ("target", "outcome", "code"),
    [
        ("$(touch seized); touch seized #", "usage", 2),
        ("nonsense", "usage", 2),
        ("127.0.0.1:1", "not-run", 3),
    ],
)
def test_what_is_no_target_runs_nothing(
    action: Action, target: str, outcome: str, code: int
) -> None:
    assert run_suites(action, target=target, suites="wire") == code, action.printed
    assert action.outputs["outcome"] == outcome
    assert not (action.job / "work" / "seized").exists()


def test_no_input_is_ever_part_of_a_script() -> None:
    declared = yaml.safe_load((SOURCES / FILE).read_text(encoding="utf-8"))
    steps = declared["runs"]["steps"]
    assert [step["run"] for step in steps if "${{" in step["run"]] == []
    used = {
        name
        for step in steps
        for name in re.findall(r"inputs\.(\w+)", " ".join(step["env"].values()))
    }
    assert used == set(declared["inputs"])


def test_the_workflow_on_the_page_fits_the_action() -> None:
    page = PAGE.read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    workflow: dict[str, Any] = yaml.safe_load(text)
    steps = workflow["jobs"]["conformance"]["steps"]
    (ours,) = [one for one in steps if "OWNER/REPOSITORY" in one.get("uses", "")]
    folder = ours["uses"].removeprefix("OWNER/REPOSITORY/").partition("@")[0]
    assert SOURCES / folder == (SOURCES / FILE).parent
    declared = yaml.safe_load((SOURCES / FILE).read_text(encoding="utf-8"))
    assert set(ours["with"]) <= set(declared["inputs"])
    assert f"steps.{ours['id']}.outputs.report" in steps[-1]["with"]["path"]
    assert "report" in declared["outputs"]

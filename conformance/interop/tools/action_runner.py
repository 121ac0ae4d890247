"""
Runner of a composite GitHub action, with the features that the project's action uses.

Expressions are replaced where the runner does so, in ``env`` and ``outputs``. Each step
is a bash script with the runner's options. Files of the environment that steps write
are read as by the runner.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from conformance.interop.tools.installed_wheel import clean_environment

BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
"""Meaning of `shell: bash` in the runner."""
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


@dataclass(slots=True, kw_only=True)
class Action:
    """An action and the folders of one job that uses it."""

    file: Path
    job: Path
    """An empty folder; the scripts run in its ``work``."""
    inputs: dict[str, str] = field(default_factory=dict)
    steps: dict[str, dict[str, str]] = field(default_factory=dict)
    """Outputs of each step with an id."""
    printed: str = ""

    @property
    def declared(self) -> dict[str, Any]:
        """The action's file."""
        found = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        assert isinstance(found, dict)
        return found

    @property
    def summary(self) -> str:
        """Summary of the job that the steps wrote."""
        path = self.job / "summary"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the action."""
        declared = self.declared["outputs"]
        return {name: self._filled(one["value"]) for name, one in declared.items()}

    def run_step(self, step: Mapping[str, Any], **more: str) -> int:
        """Run a step of the action, and return its exit code."""
        script, output = self.job / "step.sh", self.job / "output"
        script.write_text(step["run"], encoding="utf-8")
        output.write_text("", encoding="utf-8")
        (self.job / "work").mkdir(exist_ok=True)
        given = {name: self._filled(str(one)) for name, one in step["env"].items()}
        runner = {
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.job / "summary"),
            "RUNNER_TEMP": str(self.job),
        }
        ended = subprocess.run(
            [*BASH, script],
            cwd=self.job / "work",
            env=clean_environment({**runner, **given, **more}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        self.printed = ended.stdout
        lines = output.read_text(encoding="utf-8").splitlines()
        put_out = dict(line.split("=", 1) for line in lines)
        self.steps.setdefault(step.get("id", ""), {}).update(put_out)
        return ended.returncode

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self._value(found[1]), text)

    def _value(self, name: str) -> str:
        match name.split("."):
            case ["inputs", wanted]:
                declared = self.declared["inputs"][wanted]
                return self.inputs.get(wanted, str(declared.get("default", "")))
            case ["steps", step, "outputs", wanted]:
                return self.steps[step].get(wanted, "")
            case ["github", "action_path"]:
                return os.fspath(self.file.parent)
        raise AssertionError(f"the action uses {name}, which is not known here")

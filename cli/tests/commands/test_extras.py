"""A command whose extra is missing names the line that installs it."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from cli.options import extras
from cli.options.extras import DISTRIBUTION, EXTRAS

PROJECT = tomllib.loads(
    (Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8")
)["project"]


@pytest.mark.parametrize("source", [None, "/home/me/checkout"])
@pytest.mark.parametrize(
    ("command", "package"),
    [
        (["audit", "store"], "pyspark"),
        (["bench", "start"], "uvloop"),
        (["generate", "store"], "numpy"),
        (["test", "--target", "docker:apache/rocketmq:4.6.0"], "docker"),
    ],
)
def test_a_missing_package_is_one_line(
    command: list[str],
    package: str,
    source: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    ours = (
        "cli.commands.",
        "spark_checks",
        "columns",
        "conformance.harness.targets.started.d",
    )
    for name in [one for one in sys.modules if one.startswith(ours)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(extras, "installed_from", lambda: source)
    monkeypatch.setattr(extras, "is_editable", lambda: False)
    done = CliRunner().invoke(main, command)
    line = f"Error: {package} is not installed: "
    line += f"pip install '{source or DISTRIBUTION}[{EXTRAS[package]}]'\n"
    assert (done.exit_code, done.stderr) == (3, line)


def test_a_salvage_by_tasks_names_spark_not_a_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Spark's py4j also comes with the extra java, which has no Spark."""
    parts = ("pyspark", "py4j", "spark_checks.session")
    for name in [one for one in sys.modules if one.startswith(parts)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "cli.runs.stores.salvage_tasks", raising=False)
    for name in ("pyspark", "py4j"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match="pyspark") as raised:
        importlib.import_module("cli.runs.stores.salvage_tasks")
    assert "[audit]" in str(extras.missing_extra(raised.value))


@pytest.mark.parametrize(
    ("file", "installer"),
    [
        ("pipx_metadata.json", "pipx install --force"),
        ("uv-receipt.toml", "uv tool install"),
        ("pyvenv.cfg", "pip install"),
    ],
)
def test_the_installer_of_this_environment_is_named(
    file: str, installer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "is_editable", lambda: False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / file).touch()
    assert extras.installer() == installer


def test_an_editable_installation_stays_editable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extras, "is_editable", lambda: True)
    assert extras.installer() == "pip install -e"


def test_a_base_without_any_extra_names_the_extra_of_the_audit() -> None:
    code = f"import sys; sys.modules.update(dict.fromkeys({list(EXTRAS)}))\n"
    code += "from cli.main import main; main(['audit', 'store'])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("Error: pyspark is not installed: pip install ")
    assert done.stderr.rstrip("'\n").endswith("[audit]")


def test_the_extras_have_the_packages() -> None:
    optional = PROJECT["optional-dependencies"]
    assert PROJECT["name"] == DISTRIBUTION
    for package, extra in EXTRAS.items():
        name = "mkdocs-material" if package == "mkdocs" else package
        assert any(line.startswith(f"{name}>=") for line in optional[extra]), package
        assert not any(line.startswith(package) for line in PROJECT["dependencies"])
    assert optional["all"] == [f"{DISTRIBUTION}[audit,bench,docker,java]"]


BASE_COMMANDS = [
    *("admin", "completion", "consume", "evidence", "inspect", "produce", "recover"),
    *("report matrix", "report page", "serve", "spec", "target", "test", "test-client"),
]
WITHOUT_EXTRAS = f"""
import sys
sys.modules.update(dict.fromkeys({list(EXTRAS)}))
from click.testing import CliRunner
from cli.main import main
for command in {BASE_COMMANDS}:
    ended = CliRunner().invoke(main, [*command.split(), "--help"])
    print(*([] if ended.exit_code == 0 else [command, ended.output]), end="")
"""


def test_the_commands_of_the_base_need_no_extra() -> None:
    command = [sys.executable, "-c", WITHOUT_EXTRAS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""

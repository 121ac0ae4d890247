"""
Every command of the wheel works in a folder outside the checkout.

Around the environment and the folder is a foreign project, with settings for pytest
that would break any run. The commands change no installed file, except for Python's
caches of compiled modules.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.process.ports import free_port_block
from conformance.harness.process.process import start
from conformance.harness.report.manifest import FIXTURES
from conformance.harness.targets.started.embedded import SOURCES
from conformance.interop.tools.installed_wheel import (
    ROOMS,
    Installed,
    build_wheel,
    is_shipped,
    name_in_wheel,
    names_in,
    run,
    tracked_files,
)

BASE_MB = 60
"""Megabytes of files that an installation without extras may add to an environment."""
MUTANT = "header_length_from_8_bits"
STORE = FIXTURES / "store" / "4.6.0-stopped"
QUICK = ("test", "--only", "WIRE-FRAME-001", "--jobs", "0")
HOSTILE = "[pytest]\naddopts = --no-such-option\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of this checkout."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installed]:
    """Yield the environment; afterwards see that nothing in it was changed."""
    project = tmp_path_factory.mktemp("somebody")
    (project / "pytest.ini").write_text(HOSTILE, encoding="utf-8")
    made = Installed.from_wheel(wheel, project / "environment")
    before = made.files()
    yield made
    assert made.files() == before


@pytest.fixture
def somewhere(installed: Installed) -> Iterator[Path]:
    """
    Yield a project to stand in; afterwards see that it is as before.

    It has packages with the names of ours, and an import of one of them fails.
    """
    folder = installed.folder.parent / "work"
    for name in (*ROOMS, "fixtures"):
        (folder / name).mkdir(parents=True)
        raising = f"raise ImportError('{name} of the project')\n"
        (folder / name / "__init__.py").write_text(raising, encoding="utf-8")
    before = sorted(folder.rglob("*"))
    yield folder
    assert sorted(folder.rglob("*")) == before
    shutil.rmtree(folder)


def test_the_wheel_has_the_rooms_and_the_tables_that_commands_read(wheel: Path) -> None:
    shipped = filter(is_shipped, tracked_files())
    assert names_in(wheel) == set(map(name_in_wheel, shipped))


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("--version", "rmqc, version"),
        ("spec list WIRE-*", "WIRE-FRAME-001"),
        ("spec show WIRE-FRAME-001", "conformance/wire/"),
        ("spec headers 310", "SEND_MESSAGE_V2"),
        ("spec export --format lua", "Proto("),
        ("spec export --format json", '"WIRE-FRAME-001"'),
        ("inspect 00000008000000047b7d2020 --as frame", "header"),
        ("target template", "capabilities"),
        ("test --list --only WIRE-FRAME-*", "WIRE-FRAME-001"),
        ("completion bash", "_RMQC_COMPLETE"),
        (f"recover {STORE} --release 4.6.0 --dry-run", "starts"),
        (f"audit {STORE} --format json --master local[1]", '"verdict": "pass"'),
    ],
)
def test_a_command_works(
    installed: Installed, somewhere: Path, words: str, printed: str
) -> None:
    assert printed in run([installed.rmqc, *words.split()], cwd=somewhere)


@pytest.mark.parametrize("target", ["embedded:", "jvm:4.6.0"])
def test_the_suites_run(installed: Installed, somewhere: Path, target: str) -> None:
    printed = run([installed.rmqc, *QUICK, "--target", target], cwd=somewhere)
    assert "WIRE-FRAME-001" not in printed
    assert " passed" in printed


def test_a_fault_is_found_and_told_by_several_workers(
    installed: Installed, somewhere: Path
) -> None:
    words = ["test", "--target", f"mutant:{MUTANT}", "--suite", "wire", "--jobs", "2"]
    words += ["--only", "WIRE-FRAME-*"]
    printed = run([installed.rmqc, *words], cwd=somewhere, codes=(1,))
    assert "WIRE-FRAME-002 (MUST) is not met." in printed


def test_a_report_gets_its_page(
    installed: Installed, somewhere: Path, tmp_path: Path
) -> None:
    report, page = tmp_path / "report", tmp_path / "again.html"
    run([installed.rmqc, *QUICK, "--report", report], cwd=somewhere)
    words: list[str | Path] = ["report", "page", report / "report.json", "-o", page]
    run([installed.rmqc, *words], cwd=somewhere)
    assert "WIRE-FRAME-001" in page.read_text(encoding="utf-8")


def test_what_it_serves_is_tested(
    installed: Installed, somewhere: Path, tmp_path: Path
) -> None:
    ports = free_port_block()
    where = f"127.0.0.1:{ports.name_server}"
    words: list[str | Path] = [
        installed.rmqc,
        "serve",
        "--namesrv-port",
        str(ports.name_server),
    ]
    words += ["--broker-port", str(ports.broker), "--store", tmp_path / "store"]
    served = start("rmqc serve", words, log=tmp_path / "log", directory=somewhere)
    try:
        served.wait_for_line("ready ", deadline_s=60)
        probed = run([installed.rmqc, "target", "probe", where], cwd=somewhere)
        assert "4.6.0" in probed
        assert " passed" in run(
            [installed.rmqc, *QUICK, "--target", where], cwd=somewhere
        )
    finally:
        served.terminate()
        ports.release()


def test_a_broker_serves_the_tests_of_a_project(
    installed: Installed, somewhere: Path, tmp_path: Path
) -> None:
    project = shutil.copytree(somewhere, tmp_path / "project")
    (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (project / "test_it.py").write_text(
        "def test_it(rocketmq_broker, rocketmq_topic):\n"
        "    rocketmq_broker.crash()\n"
        "    assert rocketmq_broker.count(rocketmq_topic) == 0\n",
        encoding="utf-8",
    )
    python = installed.folder / "bin" / "python"
    assert "1 passed" in run([python, "-m", "pytest"], cwd=project)


def test_the_base_is_small(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "base", with_pip=False)
    pip = [sys.executable, "-m", "pip", f"--python={tmp_path}/base/bin/python"]
    run([*pip, "install", "--quiet", wheel], cwd=tmp_path)
    files = filter(Path.is_file, (tmp_path / "base" / "lib").rglob("*"))
    assert sum(path.stat().st_size for path in files) < BASE_MB * 1_000_000


def test_a_program_uses_the_packages(
    installed: Installed, somewhere: Path, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from rocketmq_conformance.paths import add_to_path\n"
        "add_to_path()\n"
        "import spec.registry\n"
        "print('clauses', len(spec.registry.all_clauses()) > 100)\n",
        encoding="utf-8",
    )
    python = installed.folder / "bin" / "python"
    assert "clauses True" in run([python, program], cwd=somewhere)


PIPX = {"PIPX_HOME": "home", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man"}
UV = {"UV_TOOL_DIR": "home", "UV_TOOL_BIN_DIR": "bin", "UV_CACHE_DIR": "cache"}


@pytest.mark.parametrize(
    ("tool", "install", "folders"),
    [
        ("pipx", ["install"], PIPX),
        ("uv", ["tool", "install", "--python", sys.executable], UV),
    ],
)
def test_it_is_installed_whole_by(
    tmp_path: Path, tool: str, install: list[str], folders: dict[str, str]
) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "tools"], check=True)
    tools = tmp_path / "tools" / "bin"
    run([tools / "pip", "install", "--quiet", tool], cwd=tmp_path)
    (tmp_path / "work").mkdir()
    where = {name: str(tmp_path / folder) for name, folder in folders.items()}
    wheel = build_wheel(tmp_path).as_uri()
    wanted = f"rocketmq-conformance[audit] @ {wheel}"
    command: list[str | Path] = [tools / tool, *install, wanted]
    run(command, cwd=tmp_path, timeout_s=1200, environment=where)
    rmqc = tmp_path / "bin" / "rmqc"
    assert " passed" in run([rmqc, *QUICK], cwd=tmp_path / "work")
    audited = run([rmqc, "audit", STORE, "--format", "json"], cwd=tmp_path / "work")
    assert '"verdict": "pass"' in audited
    assert list((tmp_path / "work").iterdir()) == []
    assert str(SOURCES) not in run(
        [rmqc, "spec", "show", "WIRE-FRAME-001"], cwd=tmp_path
    )

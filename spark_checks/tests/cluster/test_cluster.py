"""
Audits on a real standalone cluster, with shipped code, give the local result.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench.processes.standalone_cluster import DEADLINE_S, Cluster
from spark_checks.session.worker_archive import SHIPPED
from spark_checks.tests.building import StoreBuilder, flip
from spark_checks.tests.cluster.cluster import (
    KERNEL_PACKAGES,
    bare_cluster,
)

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures" / "store"
PROBE = """
import json, sys
from spark_checks.session.session import spark_session
def modules_of(_):
    import os
    import columns, spec, spark_checks, construct
    from spark_checks.readers import commit_log
    modules = [columns, spec, spark_checks, construct, commit_log]
    return [os.getcwd(), *(module.__file__ for module in modules)]
with spark_session(sys.argv[1]) as session:
    context = session.sparkContext
    workers = context.parallelize(range(8), 8)
    places = set(workers.map(modules_of).map(tuple).collect())
    print(json.dumps(sorted(map(list, places))))
"""

LARGE_AUDIT = """
import json, sys
from spark_checks.audit import audit_store
from spark_checks.session import kernel_request
from spark_checks.session.session import spark_context
kernel_request.LARGE_SIZE = 1
with spark_context(sys.argv[1], size=1 << 20) as context:
    found = audit_store(context, sys.argv[2])
print(json.dumps([len(found.findings), found.summary["survey_tasks"]]))
"""
"""Audits a small store as if it were a large one."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a master and two workers."""
    with bare_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with two wrong bytes."""
    builder = StoreBuilder()
    for number in range(300):
        builder.put(f"Topic{number % 3}", number % 4, tags="TagA")
    root = builder.write(tmp_path_factory.mktemp("damaged"))
    record = builder.placed["Topic1", 1][2]
    flip(root, record.log_file, record.position + 100)
    unit = builder.placed["Topic2", 2][5]
    flip(root, unit.queue_file, unit.unit_position + 7)
    return root


def run(
    *words: str, cluster: Cluster | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with *words*, and the cluster's Python for its workers."""
    workers = {"PYSPARK_PYTHON": str(cluster.python)} if cluster else {}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, **workers},
        capture_output=True,
        text=True,
        check=False,
    )


def audited(*stores: Path, cluster: Cluster | None = None) -> tuple[int, Any]:
    """Return exit code and report of an audit of *stores*."""
    master = cluster.url if cluster else "local[2]"
    words = ["-m", "cli", "audit", *map(str, stores), "--format", "json"]
    done = run(*words, "--master", master, cluster=cluster)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_workers_do_not_have_the_project_by_themselves(cluster: Cluster) -> None:
    for package in ("spec", "spark_checks", "construct", "isal"):
        found = subprocess.run(
            [cluster.python, "-c", f"import {package}"],
            cwd=cluster.work,
            env=dict(cluster.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        assert f"No module named '{package}'" in found.stderr


def test_workers_use_the_code_that_was_shipped_to_them(cluster: Cluster) -> None:
    done = run("-c", PROBE, cluster.url, cluster=cluster)
    assert done.returncode == 0, done.stderr
    places = json.loads(done.stdout)
    directories = {Path(place[0]) for place in places}
    assert {path.relative_to(cluster.work).parts[0] for path in directories} == {
        str(number) for number in range(2)
    }
    for directory, *modules in places:
        for module in modules:  # its path may be relative to where the executor runs
            assert SHIPPED in module
            place = Path(directory, module).resolve()
            assert place.is_relative_to(cluster.work.parent)


def test_a_cluster_reports_what_this_machine_reports(
    cluster: Cluster, damaged: Path
) -> None:
    stores = [FIXTURES / "5.3.3-stopped", damaged]
    code, report = audited(*stores, cluster=cluster)
    assert (code, report) == audited(*stores)
    assert code == 1
    ran = {
        path.relative_to(cluster.work).parts[0] for path in cluster.work.glob("*/app*")
    }
    assert ran == {"0", "1"}


def test_workers_with_numba_compile_kernels_once(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    store = str(FIXTURES / "5.3.3-stopped")
    compiled = []
    with bare_cluster(
        tmp_path / "cluster", KERNEL_PACKAGES, XDG_CACHE_HOME=str(cache)
    ) as running:
        for _ in range(2):
            done = run("-c", LARGE_AUDIT, running.url, store, cluster=running)
            assert done.returncode == 0, done.stderr
            found, tasks = json.loads(done.stdout)
            assert (found, tasks["without"]) == (0, 0)
            assert tasks["with_kernels"] > 0
            files = sorted(cache.rglob("*.nbc"))
            compiled.append([(path, path.stat().st_mtime_ns) for path in files])
    first, second = compiled
    assert first == second
    assert len(first) > len(KERNEL_PACKAGES)


def test_workers_without_numba_are_counted(cluster: Cluster) -> None:
    store = str(FIXTURES / "5.3.3-stopped")
    done = run("-c", LARGE_AUDIT, cluster.url, store, cluster=cluster)
    assert done.returncode == 0, done.stderr
    found, tasks = json.loads(done.stdout)
    assert (found, tasks["with_kernels"]) == (0, 0)
    assert tasks["without"] > 0


def test_a_cluster_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = (
        "import pathlib, sys\n"
        "from spark_checks.tests.cluster.cluster import bare_cluster\n"
        "with bare_cluster(pathlib.Path(sys.argv[1])) as cluster:\n"
        "    print(*cluster.process_ids, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout
        daemons = [
            psutil.Process(int(word)) for word in owner.stdout.readline().split()
        ]
        owner.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs(daemons, timeout=DEADLINE_S)
    assert len(daemons) == 3
    assert alive == []


def test_workers_salvage_what_this_machine_salvages(
    cluster: Cluster, damaged: Path, tmp_path: Path
) -> None:
    reports = []
    for name, master in (("here", ()), ("there", ("--master", cluster.url))):
        words = ("salvage", str(damaged), "-o", str(tmp_path / name))
        done = run("-m", "cli", *words, "--format", "json", *master, cluster=cluster)
        assert done.returncode == 1, done.stderr
        reports.append({**json.loads(done.stdout), "store": ""})
        logs = (tmp_path / name / "commitlog").iterdir()
        reports[-1]["log"] = [path.read_bytes() for path in sorted(logs)]
    assert reports[0] == reports[1]
    assert reports[0]["lost"] == 1

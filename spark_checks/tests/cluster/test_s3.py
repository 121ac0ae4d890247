"""
A store in S3 has the same audit as on a disk.

The server is moto's, which serves S3 over HTTP on loopback. Without moto the tests are
errors, not skipped. ``tox -e s3`` installs it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.server import ThreadedMotoServer
from pyarrow import fs

from rocketmq_conformance.paths import module_command
from spark_checks.store_files import list_store, read_whole
from spark_checks.tests.building import StoreBuilder, flip
from spark_checks.tests.cluster.cluster import bare_cluster

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures" / "store"
BUCKET = "brokers"
KEY, SECRET = "key-of-the-test", "secret-of-the-test"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Yield the address of an S3 server on loopback."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="module")
def stores(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return some local stores, also in the bucket under their names."""
    builder = StoreBuilder()
    for number in range(100):
        builder.put("Orders", number % 4, tags="TagA")
    damaged = builder.write(tmp_path_factory.mktemp("stores") / "damaged")
    record = builder.placed["Orders", 1][2]
    flip(damaged, record.log_file, record.position + 100)
    found = [FIXTURES / "4.6.0-stopped", damaged]
    s3 = fs.S3FileSystem(
        access_key=KEY,
        secret_key=SECRET,
        endpoint_override=endpoint,
        region="us-east-1",
        allow_bucket_creation=True,
    )
    s3.create_dir(BUCKET)
    for store in found:
        for path in store.rglob("*"):
            if path.is_file():
                name = f"{BUCKET}/{store.name}/{path.relative_to(store).as_posix()}"
                with s3.open_output_stream(name) as file:
                    file.write(path.read_bytes())
    return found


FORECAST = ("forecast", "headline", "first_steps", "groups", "next")
"""Members about a start on the store, which is forecast only on a disk."""


def audited(*words: str, **environment: str) -> tuple[int, Any, str]:
    """Return exit code, findings and output of an audit, without store names."""
    done = subprocess.run(
        module_command("cli", "audit", *words, "--format", "json"),
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    reports = json.loads(done.stdout)
    for one in reports:
        one["store"] = one["store"].partition("?")[0].rpartition("/")[2]
        for name in FORECAST:
            one.pop(name, None)
    return done.returncode, reports, done.stdout + done.stderr


def test_a_store_in_s3_is_listed_and_read_as_on_a_disk(
    endpoint: str, stores: list[Path]
) -> None:
    url = f"s3://{KEY}:{SECRET}@{BUCKET}/{stores[0].name}?endpoint_override={endpoint}"
    here, there = list_store(str(stores[0])), list_store(url)
    assert (there.files, there.directories) == (here.files, here.directories)
    for file in here.files:
        assert read_whole(url, file) == read_whole(str(stores[0]), file)


def test_an_address_says_all_and_its_secret_stays_out_of_the_report(
    endpoint: str, stores: list[Path]
) -> None:
    begin, end = f"s3://{KEY}:{SECRET}@{BUCKET}", f"?endpoint_override={endpoint}"
    there = [f"{begin}/{store.name}{end}" for store in stores]
    code, reports, output = audited(*there, "--master", "local[2]")
    expected = audited(*map(str, stores), "--master", "local[2]")
    assert [len(one["violations"]) > 0 for one in reports] == [False, True]
    assert (code, reports) == expected[:2]
    assert SECRET not in output


def test_workers_of_a_cluster_open_what_variables_say_here(
    endpoint: str, stores: list[Path], tmp_path: Path
) -> None:
    there = [f"s3://{BUCKET}/{store.name}" for store in stores]
    with bare_cluster(tmp_path) as cluster:
        code, reports, _ = audited(
            *there,
            "--master",
            cluster.url,
            PYSPARK_PYTHON=str(cluster.python),
            AWS_ENDPOINT_URL=endpoint,
            AWS_ACCESS_KEY_ID=KEY,
            AWS_SECRET_ACCESS_KEY=SECRET,
            AWS_DEFAULT_REGION="us-east-1",
        )
    expected = audited(*map(str, stores), "--master", "local[2]")
    assert (code, reports) == expected[:2]

"""The initial content of a store's directory and of its topics file."""

from __future__ import annotations

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.store_files import StoreFiles
from conformance.store.written_store import Written
from spec.store import file_names
from spec.store.config.config_files import TOPICS_FILE
from spec.wire.bodies import fastjson

pytestmark = pytest.mark.needs("store")

TOPIC_FIELDS = {
    "order",
    "perm",
    "readQueueNums",
    "topicFilterType",
    "topicName",
    "topicSysFlag",
    "writeQueueNums",
}


@pytest.mark.restores
@pytest.mark.clause("STORE-NAME-007")
@pytest.mark.needs("wire", "config")  # Copies are often made without the lock.
def test_a_store_has_its_directories(files: StoreFiles) -> None:
    directories = ("commitlog", "consumequeue", "index", "config")
    lacking = [name for name in directories if not (files.path / name).is_dir()]
    lacking += [n for n in ("checkpoint", "lock") if not (files.path / n).is_file()]
    expect("STORE-NAME-007", found=lacking, expected=[], what="what is not there")


@pytest.mark.clause("STORE-NAME-008")
@pytest.mark.needs("wire", "config")
def test_the_first_file_is_named_with_20_zeros(written: Written) -> None:
    names = sorted(p.name for p in (written.files.path / "commitlog").iterdir())
    expect("STORE-NAME-008", found=names[0], expected="0" * 20, what="first name")


@pytest.mark.restores
@pytest.mark.clause("STORE-NAME-009")
@pytest.mark.needs("wire", "config")  # Copies are often made without the lock.
def test_the_file_lock_says_so(files: StoreFiles) -> None:
    content = (files.path / file_names.LOCK).read_bytes()
    expect("STORE-NAME-009", found=content[:4], expected=b"lock", what="first bytes")


@pytest.mark.restores
@pytest.mark.clause("STORE-CONFIG-012")
@pytest.mark.needs("wire", "config")
def test_a_topic_is_written_with_these_fields(written: Written) -> None:
    name = create_topic(written.target, unique_name("fields"))
    path = written.files.config(TOPICS_FILE)

    def topics() -> dict[object, object]:
        table = fastjson.loads(path.read_bytes())
        assert isinstance(table, dict)
        return dict(table["topicConfigTable"])

    wait_until(lambda: name in topics(), what=f"{name} is in {TOPICS_FILE}")
    topic = topics()[name]
    assert isinstance(topic, dict)
    lacking = sorted(TOPIC_FIELDS - {str(field) for field in topic})
    expect("STORE-CONFIG-012", found=lacking, expected=[], what="absent fields")

"""The file of epochs, which a broker in controller mode keeps, over restarts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.java.apache_conf import CONTROLLER_MODE, SOON_ELECTED
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    another_target,
    create_topic,
    need,
    unique_name,
)
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Capability, Target
from conformance.recovery.restart import put_back, starts
from spec.store.config.config_files import BACKUP_SUFFIX
from spec.store.epoch_file import (
    EPOCH_FILE,
    Epoch,
    EpochFileError,
    decode_epochs,
    encode_epochs,
)
from spec.wire.remoting.response_code import ResponseCode

pytestmark = pytest.mark.long

SETTINGS = {CONTROLLER_MODE: "true", **SOON_ELECTED}
NO_NUMBERS = (b"", b"1\n0\na-0\n")
"""Contents in which a number is missing, or has a letter."""


@pytest.fixture(scope="module")
def saved(
    pytestconfig: pytest.Config,
    target: Target,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Target, Path]]:
    """Yield a stopped broker that was the master for one message, and its store."""
    need(target, Capability.STORE, Capability.WIRE)
    need(target, Capability.CONFIG, Capability.RESTART)
    store = tmp_path_factory.mktemp("epochs") / "store"
    with another_target(pytestconfig, SETTINGS) as own:
        if not epoch_file(own).exists():
            unsupported("the target has no file of epochs in controller mode")
        send_and_stop(own, create_topic(own, unique_name("epochs"), queue_count=1))
        shutil.copytree(store_of(own), store)
        yield own, store


@pytest.fixture
def master(saved: tuple[Target, Path]) -> Target:
    """Return the stopped broker with its store as it was."""
    target, store = saved
    put_back(target, store)
    return target


def store_of(target: Target) -> Path:
    """Return the directory of the store."""
    assert target.store_path is not None
    return target.store_path


def epoch_file(target: Target, suffix: str = "") -> Path:
    """Return the file of epochs, or its copy."""
    return store_of(target) / f"{EPOCH_FILE}{suffix}"


def send_and_stop(target: Target, topic: str) -> None:
    """Send a message, as soon as the broker is the master, and stop it."""

    def is_sent() -> bool:
        response = broker.send_message(topic=topic, queue_id=0, body=b"a")
        return response.code == ResponseCode.SUCCESS

    with target.connect_to_broker() as broker:
        wait_until(is_sent, what="the broker is the master")
        broker.wait_for_max_offset(topic=topic, offset=1)
    target.stop()


def log_end(target: Target) -> int:
    """Return the end of the commit log."""
    return StoreFiles(store_of(target)).log_files()[-1].scan.end_offset


def epochs_after_start(target: Target) -> list[Epoch]:
    """Start the broker; return its epochs when the last one begins at the log's end."""
    end = log_end(target)
    target.start()

    def found() -> list[Epoch]:
        with suppress(EpochFileError, FileNotFoundError):  # a broker replaces it
            return decode_epochs(epoch_file(target).read_bytes())
        return []

    def is_master() -> bool:
        return [last.begin for last in found()[-1:]] == [end]

    with suppress(TooLateError):
        wait_until(is_master, what=f"an epoch at {end}")
    return found()


@pytest.mark.clause("STORE-EPOCHFILE-001", "STORE-EPOCHFILE-002")
def test_each_time_as_master_has_an_epoch(master: Target) -> None:
    end = log_end(master)
    epochs = epochs_after_start(master)
    expect(
        "STORE-EPOCHFILE-002",
        found=[one.begin for one in epochs],
        expected=[0, end],
        what="begins of the epochs after two starts",
    )
    data = epoch_file(master).read_bytes()
    expect(
        "STORE-EPOCHFILE-001",
        found=data,
        expected=encode_epochs(epochs),
        what="the file's lines",
    )


@pytest.mark.clause("STORE-EPOCHFILE-003")
@pytest.mark.parametrize("content", NO_NUMBERS, ids=["empty", "letter"])
def test_no_start_on_epochs_that_are_no_numbers(master: Target, content: bytes) -> None:
    epoch_file(master, BACKUP_SUFFIX).write_bytes(epoch_file(master).read_bytes())
    epoch_file(master).write_bytes(content)
    expect("STORE-EPOCHFILE-003", found=starts(master), expected=False, what="start")


@pytest.mark.clause("STORE-EPOCHFILE-004")
def test_the_copy_is_read_in_place_of_wrong_epochs(master: Target) -> None:
    right = epoch_file(master).read_bytes()
    epoch_file(master, BACKUP_SUFFIX).write_bytes(right)
    known = decode_epochs(right)
    count, checksum, *lines = right.splitlines()
    wrong = [count, b"%d" % (int(checksum) ^ 1), *lines]
    epoch_file(master).write_bytes(b"\n".join([*wrong, b""]))
    expect(
        "STORE-EPOCHFILE-004",
        found=epochs_after_start(master)[:-1],
        expected=known,
        what="epochs before the start",
    )

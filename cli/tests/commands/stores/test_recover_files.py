"""Files of a wrong kind, name or size, and ``rmqc recover``'s forecast with them."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from cli.tests.commands.stores.recover_command import (
    RELEASES,
    STORES,
    copied,
    foretold,
    recover,
)

STARTS = STORES.parent / "starts"


@pytest.mark.parametrize(("release", "starts"), [("4.9.7", True), ("5.3.3", False)])
def test_a_short_timer_wheel_matters_since_5(
    release: str, starts: bool, tmp_path: Path
) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    (store / "timerwheel").write_bytes(b"too short")
    found = foretold(store, release)
    assert found["starts"] is starts
    if not starts:
        assert found["refusal"]["clause"] == "REC-LOAD-008"


def test_a_directory_in_place_of_the_timer_wheel_prevents_a_start(
    tmp_path: Path,
) -> None:
    store = copied(tmp_path, "5.3.3-stopped")
    (store / "timerwheel").mkdir()
    found = foretold(store, "5.3.3")
    assert found["starts"] is False
    assert found["refusal"]["file"] == "timerwheel"


@pytest.mark.parametrize("release", ["4.6.0", "5.3.3"])
@pytest.mark.parametrize("directory", ["consumequeue_ext", "batchconsumequeue"])
def test_a_wrong_size_of_an_extension_or_batch_queue_prevents_a_start(
    directory: str, release: str, tmp_path: Path
) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    for topic, size in {"AuditQueues": 4600, "HandoverOrders": 100}.items():
        file = store / directory / topic / "0" / "00000000000000000000"
        file.parent.mkdir(parents=True)
        file.write_bytes(bytes(size))
    found = foretold(store, release)
    has_such_queues = directory == "consumequeue_ext" or release >= "5"
    assert found["starts"] is not has_such_queues
    if has_such_queues:
        assert found["refusal"]["file"] == str(file.relative_to(store))


@pytest.mark.parametrize(("size", "is_lost"), [(46, False), (0, True)])
def test_messages_of_an_empty_batch_queue_are_invisible(
    size: int, is_lost: bool, tmp_path: Path
) -> None:
    """A real 5.3.3 deletes the empty file, and the queue ends at 0."""
    store, topic = copied(tmp_path, "5.3.3-stopped"), "HandoverOrders"
    topics = store / "config" / "topics.json"
    table = json.loads(topics.read_text())
    table["topicConfigTable"][topic]["attributes"] = {"queue.type": "BatchCQ"}
    topics.write_text(json.dumps(table))
    shutil.rmtree(store / "consumequeue" / topic)
    file = store / "batchconsumequeue" / topic / "0" / "00000000000000000000"
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes(size))
    invisible = foretold(store, "5.3.3")["messages"]["invisible"]
    assert (topic in {one["topic"] for one in invisible}) is is_lost
    note = "units of batch consume queues are not compared with the log"
    assert (note in recover(store, "--release", "5.3.3").output) is not is_lost


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", ["-1", "+400"])
def test_a_start_with_a_signed_file_name_is_not_forecast(
    name: str, release: str, tmp_path: Path
) -> None:
    """Real brokers start with ``-1``, and use it beside the file that begins at 0."""
    store = copied(tmp_path, f"{release}-stopped")
    queue = store / "consumequeue/HandoverOrders/0"
    shutil.copy(queue / "00000000000000000000", queue / name)
    result = recover(store, "--release", release)
    assert result.exit_code == 2
    assert result.output.splitlines()[-1].endswith(
        f"HandoverOrders/0/{name} is no broker's file: move it out of the store"
    )


SIZES = "mappedFileSizeCommitLog=65536\nmappedFileSizeConsumeQueue=400\n"


@pytest.mark.parametrize(
    ("release", "setting", "file"),
    [
        ("5.3.3", "mappedFileSizeTimerLog=5200", "timerlog/00000000000000000000"),
        ("5.5.0", "", "timerlog/00000000000000000000"),
        ("5.3.3", "mappedFileSizeTimerLog=5100", "timerwheel"),
        ("5.3.3", "timerWheelEnable=false", None),
        ("4.9.7", "mappedFileSizeTimerLog=5200", None),
    ],
)
def test_a_timer_log_must_have_the_configured_size(
    release: str, setting: str, file: str | None, tmp_path: Path
) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    (store / "timerlog").mkdir()
    (store / "timerlog/00000000000000000000").write_bytes(bytes(5100))
    assert foretold(store, release)["starts"] is True
    if file != "timerlog/00000000000000000000":
        (store / "timerwheel").write_bytes(b"too short")
    conf = tmp_path / "broker.conf"
    conf.write_text(SIZES + setting)
    words = (store, "--release", release, "--broker-conf", conf, "--format", "json")
    refusal = json.loads(recover(*words).stdout)["refusal"]
    assert (refusal and refusal["file"]) == file


LOG_FILE = "commitlog/00000000000000131072"
RECOVER = ("recover", "store", "--release", "5.3.3")


def _bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


@pytest.mark.parametrize("make", [os.mkfifo, _bind], ids=["pipe", "socket"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("checkpoint", RECOVER),
        ("config/topics.json", RECOVER),
        (LOG_FILE, RECOVER),
        (LOG_FILE, ("dump", "store")),
        (LOG_FILE, ("salvage", "store", "-o", "new")),
    ],
)
def test_what_is_no_file_makes_a_store_unreadable(
    name: str,
    words: tuple[str, ...],
    make: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied(tmp_path, "5.3.3-stopped")
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    path = Path("store", name)
    path.unlink(missing_ok=True)
    make(path)
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert name in line


@pytest.mark.parametrize("release", ["4.6.0", "5.3.3"])
def test_messages_of_an_older_queue_file_in_place_of_another_are_repeated(
    release: str, tmp_path: Path
) -> None:
    """Real brokers deliver the five messages of the older file twice."""
    store = shutil.copytree(STARTS / release / "store", tmp_path / "store")
    assert foretold(store, release)["messages"]["repeated"] == []
    queue = store / "consumequeue/DamageOrders/1"
    shutil.copy(queue / f"{100:020}", queue / f"{300:020}")
    (found,) = foretold(store, release)["messages"]["repeated"]
    place = (found["topic"], found["queue"], found["from"], found["to"])
    assert place == ("DamageOrders", 1, "5", "10")


@pytest.mark.parametrize("release", ["4.6.0", "5.3.3"])
def test_a_unit_of_an_earlier_message_repeats_it(release: str, tmp_path: Path) -> None:
    store = shutil.copytree(STARTS / release / "store", tmp_path / "store")
    first = store / "consumequeue/DamageOrders/1" / f"{0:020}"
    units = first.read_bytes()
    first.write_bytes(units[:60] + units[:20] + units[80:])
    (found,) = foretold(store, release)["messages"]["repeated"]
    assert (found["topic"], found["queue"], found["count"]) == ("DamageOrders", 1, 1)
    assert found["from"] == "0"

"""Messages, tables and index files that ``rmqc recover`` forecasts to be lost."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import combinations, takewhile
from pathlib import Path

import pytest

from cli.runs.stores.start_forecasts import start_forecast
from cli.tests.commands.stores.recover_command import (
    END,
    LAST_FILE,
    RELEASES,
    STORES,
    copied,
    foretold,
    recover,
    with_damage_before_recovery,
)
from spec.store.commit_log import scan
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import file_name
from spec.store.message_record import encode_record


def test_a_torn_record_costs_one_message(tmp_path: Path) -> None:
    store = copied(tmp_path)
    with (store / LAST_FILE).open("r+b") as file:
        file.seek(END - 65_536 - 40)
        file.write(bytes(40))
    result = recover(store, "--release", "4.6.0", "--dry-run")
    assert result.exit_code == 0, "properties are not checked"
    with (store / LAST_FILE).open("r+b") as file:
        file.seek(END - 65_536 - 400)
        file.write(bytes(400))
    found = foretold(store)
    assert found["starts"] is True
    assert int(found["log"]["cut_bytes"]) > 0
    assert sum(one["count"] for one in found["messages"]["lost"]) >= 1
    assert all(one["clause"] == "REC-TRUNCATE-001" for one in found["messages"]["lost"])


def test_a_truncated_record_is_lost_though_its_unit_is_unwritten(
    tmp_path: Path,
) -> None:
    store = copied(tmp_path)
    with (store / LAST_FILE).open("r+b") as file:
        file.write(bytes(4))
    before = foretold(store)
    lost = next(one for one in before["messages"]["lost"] if one["count"] > 2)
    queue = store / "consumequeue" / lost["topic"] / str(lost["queue"])
    position = (int(lost["to"]) - 2) * UNIT_SIZE
    size = (queue / file_name(0)).stat().st_size
    with (queue / file_name(position - position % size)).open("r+b") as file:
        file.seek(position % size)
        file.write(bytes(UNIT_SIZE))
    assert foretold(store)["totals"] == before["totals"]


def test_a_topic_without_queues_stays_invisible_after_a_stop(tmp_path: Path) -> None:
    store = copied(tmp_path)
    shutil.rmtree(store / "consumequeue" / "HandoverOrders")
    found = foretold(store)
    hidden = [one["topic"] for one in found["messages"]["invisible"]]
    assert set(hidden) == {"HandoverOrders"}
    assert {one["group"] for one in found["offsets"]} == {"handover_group"}
    (store / "config/consumerOffset.json").write_text('{"offsetTable":{}}')
    totals = foretold(store)["totals"]
    assert (totals["invisible"], totals["of_deleted_topics"]) == (
        0,
        found["totals"]["invisible"],
    )
    (store / "abort").write_bytes(b"")
    (store / "checkpoint").unlink()
    assert foretold(store)["messages"]["invisible"] == []


@pytest.mark.parametrize(
    ("left", "is_hidden"),
    [
        pytest.param("HandoverOrders", False, id="an empty directory, as of 4.9"),
        pytest.param("HandoverOrders/0", True, id="a directory of a queue"),
    ],
)
def test_consumed_offsets_prove_no_loss_beside_an_empty_directory(
    tmp_path: Path, left: str, *, is_hidden: bool
) -> None:
    store = copied(tmp_path)
    shutil.rmtree(store / "consumequeue/HandoverOrders")
    (store / "consumequeue" / left).mkdir(parents=True)
    totals = foretold(store)["totals"]
    assert (totals["invisible"] > 0) is is_hidden
    assert (totals["of_deleted_topics"] > 0) is not is_hidden


def test_a_topic_with_a_blank_queue_file_was_not_deleted(tmp_path: Path) -> None:
    store = copied(tmp_path)
    for file in (store / "consumequeue/HandoverOrders").glob("*/*"):
        file.write_bytes(bytes(file.stat().st_size))
    (store / "config/consumerOffset.json").write_text('{"offsetTable":{}}')
    totals = foretold(store)["totals"]
    assert totals["invisible"] > 0
    assert totals["of_deleted_topics"] == 0


def _unlist(store: Path, topic: str) -> None:
    """Delete *topic* as a broker does: its queues, and its entry in topics.json."""
    shutil.rmtree(store / "consumequeue" / topic)
    path = store / "config" / "topics.json"
    topics = json.loads(path.read_text())
    topics["topicConfigTable"].pop(topic, None)
    path.write_text(json.dumps(topics))


def test_messages_of_a_deleted_topic_are_no_harm(tmp_path: Path) -> None:
    store = copied(tmp_path)
    before = foretold(store)
    _unlist(store, "HandoverOrders")
    (store / "config" / "consumerOffset.json").write_text('{"offsetTable":{}}')
    found = foretold(store)
    gone = found["messages"]["of_deleted_topics"]
    assert {one["topic"] for one in gone} == {"HandoverOrders"}
    queues = before["queues"]["HandoverOrders"].values()
    dispatched = sum(
        one["redispatched"] for one in found["queues"]["HandoverOrders"].values()
    )
    count = sum(int(one["max"]) for one in queues) - dispatched
    assert dispatched > 0
    assert found["totals"] == {**before["totals"], "of_deleted_topics": count}
    result = recover(store, "--release", "4.6.0", "--dry-run")
    assert result.exit_code == 0
    assert "in no queue, because their topic or queue was deleted" in result.output
    assert "salvage" not in result.output


def test_a_topic_without_queues_may_be_deleted_if_rocksdb_has_the_topics(
    tmp_path: Path,
) -> None:
    store = copied(tmp_path)
    shutil.rmtree(store / "consumequeue" / "HandoverOrders")
    hidden = foretold(store)["totals"]["invisible"]
    (store / "config" / "topics.json").unlink()
    (store / "config" / "rdb").mkdir()
    (store / "config" / "rdb" / "CURRENT").write_text("MANIFEST-000004\n")
    (store / "config" / "rdb" / "MANIFEST-000004").touch()
    totals = foretold(store)["totals"]
    assert (totals["invisible"], totals["of_deleted_topics"]) == (0, hidden)


def test_a_topic_is_not_deleted_if_anything_of_it_is_there(tmp_path: Path) -> None:
    store = copied(tmp_path)
    shutil.copytree(store / "consumequeue/HandoverOrders/0", tmp_path / "kept")
    _unlist(store, "HandoverOrders")
    _unlist(store, "SCHEDULE_TOPIC_XXXX")
    shutil.copytree(tmp_path / "kept", store / "consumequeue/HandoverOrders/0")
    found = foretold(store)
    hidden = {(one["topic"], one["queue"]) for one in found["messages"]["invisible"]}
    assert ("HandoverOrders", 1) in hidden
    assert "SCHEDULE_TOPIC_XXXX" in {topic for topic, _ in hidden}
    assert found["totals"]["of_deleted_topics"] == 0
    (store / "config" / "topics.json").write_text('{"topicConfigTable":{}}')
    (store / "config" / "topics.json.bak").unlink(missing_ok=True)
    shutil.rmtree(store / "consumequeue" / "HandoverOrders")
    assert foretold(store)["totals"]["of_deleted_topics"] == 0


def _begin_again(store: Path, first: int, *, is_counted_again: bool = True) -> None:
    """Let queue 0 of HandoverOrders begin at its message *first*."""
    for path in (store / "commitlog").iterdir():
        data = bytearray(path.read_bytes())
        for one in scan(bytes(data), int(path.name)).records:
            record, at = one.record, one.offset - int(path.name)
            is_later = record.queue_offset >= first and is_counted_again
            if (record.topic, record.queue_id) == ("HandoverOrders", 0) and is_later:
                number = record.queue_offset - first
                again = encode_record(replace(record, queue_offset=number))
                data[at : at + len(again)] = again
        path.write_bytes(data)
    (queue,) = (store / "consumequeue" / "HandoverOrders" / "0").iterdir()
    units = queue.read_bytes()
    later = units[first * UNIT_SIZE :]
    queue.write_bytes(later.ljust(len(units), b"\0"))


@pytest.mark.parametrize("is_counted_again", [True, False])
def test_messages_before_a_queue_was_created_again_are_no_harm(
    tmp_path: Path, *, is_counted_again: bool
) -> None:
    store, first = copied(tmp_path), 7
    _begin_again(store, first, is_counted_again=is_counted_again)
    totals = foretold(store)["totals"]
    counts = totals["of_deleted_topics"], totals["invisible"]
    assert counts == ((first, 0) if is_counted_again else (0, first))


@pytest.mark.parametrize(
    ("queue_id", "gone", "hidden"),
    [
        pytest.param(3, 12, 0, id="messages before the topic was created again"),
        pytest.param(2, 0, 13, id="a message behind that"),
    ],
)
def test_a_queue_may_have_no_message_since_its_topic_was_created_again(
    tmp_path: Path, queue_id: int, gone: int, hidden: int
) -> None:
    store, first = copied(tmp_path), 13
    _begin_again(store, first)
    shutil.rmtree(store / "consumequeue" / "HandoverOrders" / str(queue_id))
    totals = foretold(store)["totals"]
    assert totals["of_deleted_topics"] == first + gone
    assert totals["invisible"] == hidden


@pytest.mark.parametrize("release", RELEASES)
def test_expired_messages_are_not_lost(release: str, tmp_path: Path) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    min((store / "commitlog").iterdir()).unlink()
    assert foretold(store, release)["totals"]["lost"] == 0


def test_a_log_with_an_allocated_file_alone_is_noted(tmp_path: Path) -> None:
    """Retention leaves the same, and so does an operator who deletes all others."""
    store = copied(tmp_path)
    shutil.rmtree(store / "commitlog")
    (store / "commitlog").mkdir()
    assert _notes_of_log(store) == [], "the messages are lost"
    (store / f"commitlog/{file_name(2 * 65_536)}").write_bytes(bytes(65_536))
    (note,) = _notes_of_log(store)
    assert note.startswith("the commit log has no message: those of the queues are")


def _notes_of_log(store: Path) -> list[str]:
    notes = foretold(store)["notes"]
    return [one["says"] for one in notes if one["clause"] == "STORE-CLEAN-001"]


@pytest.mark.parametrize("release", RELEASES)
def test_messages_under_another_file_are_lost(release: str, tmp_path: Path) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    shutil.copyfile(min((store / "commitlog").iterdir()), store / LAST_FILE)
    queues = (store / "consumequeue").glob("*/*/*")
    data = b"".join(path.read_bytes() for path in queues)
    units = (data[at : at + 8] for at in range(0, len(data), 20))
    count = sum(int.from_bytes(one, "big") >= 65_536 for one in units)
    found = foretold(store, release)["totals"]["unreadable"]
    assert count - 1 <= found <= count, "one unit may point at a record by chance"


@pytest.mark.parametrize("backup", [False, True])
def test_a_broken_table_is_a_loss(tmp_path: Path, *, backup: bool) -> None:
    store = copied(tmp_path)
    topics = store / "config" / "topics.json"
    topics.with_name("topics.json.bak").unlink(missing_ok=True)
    if backup:
        shutil.copy(topics, topics.with_name("topics.json.bak"))
    topics.write_text("{")
    result = recover(store, "--release", "4.6")
    assert result.exit_code == 1
    assert "Nothing is lost" not in result.output
    lost = "Changes of the topics after the .bak are lost: config/topics.json is"
    if not backup:
        lost = "The topics are lost: config/topics.json is"
    _, response, line, *_, hint = result.output.splitlines()
    assert "It starts" in response
    assert line.startswith(lost)
    assert hint.endswith(f"rmqc salvage {store} -o NEW")


def test_the_total_comes_first_and_then_the_largest_loss(tmp_path: Path) -> None:
    store = copied(tmp_path)
    with (store / "commitlog/00000000000000000000").open("r+b") as file:
        file.seek(4096)
        file.write(bytes(4096))
    (store / LAST_FILE).unlink()
    (store / "abort").touch()
    (store / "checkpoint").unlink()
    found = foretold(store)
    lost = found["messages"]["lost"]
    counts = {
        is_unreadable: sum(
            one["count"] for one in lost if one["unreadable"] is is_unreadable
        )
        for is_unreadable in (True, False)
    }
    assert found["totals"]["unreadable"] == counts[True] > 0
    assert found["totals"]["destroyed"] == counts[False] > 0
    assert found["totals"]["lost"] == sum(counts.values())
    lines = recover(store, "--release", "4.6.0").output.splitlines()
    for title, count in (
        ("already unreadable, also without a start.", counts[True]),
        ("lost by the start.", counts[False]),
    ):
        begin = next(n for n, line in enumerate(lines) if line.endswith(title))
        shown = [
            int(line.split()[0])
            for line in takewhile(lambda line: line[0] == " ", lines[begin + 1 :])
        ]
        assert lines[begin].startswith(f"{count:,} messages of ")
        assert sum(shown) == count
        assert shown == sorted(shown, reverse=True)


def test_messages_of_a_missing_file_are_not_destroyed_by_a_start(
    tmp_path: Path,
) -> None:
    store = copied(tmp_path)
    (store / LAST_FILE).unlink()
    totals = foretold(store)["totals"]
    assert totals["unreadable"] == totals["lost"] > 10
    assert totals["destroyed"] == 0


@pytest.mark.parametrize("release", ["4.6.0", "5.3.3"])
def test_a_garbage_unit_is_not_a_lost_message(release: str, tmp_path: Path) -> None:
    store = copied(tmp_path, f"{release}-stopped")
    path = min((store / "consumequeue").glob("HandoverOrders/*/0*"))
    data = bytearray(path.read_bytes())
    far = (1 << 61).to_bytes(8, "big") + bytes(3) + b"\xc8" + bytes(8)
    high = (END + 70_000).to_bytes(8, "big") + far[8:]
    data[:80] = far + high + data[40:60] + far
    path.write_bytes(data)
    found = foretold(store, release)
    assert found["messages"]["lost"] == []
    assert found["log"]["cut_bytes"] == "0"
    assert found["totals"]["invisible"] > 1


def test_messages_of_a_file_of_another_store_are_lost(tmp_path: Path) -> None:
    store = copied(tmp_path)
    first = f"commitlog/{0:020}"
    shutil.copy(STORES / "4.9.7-stopped" / first, store / first)
    totals = foretold(store)["totals"]
    assert totals["unreadable"] == totals["lost"] > 90
    assert totals["invisible"] > 90
    found = start_forecast(str(store), "4.6.0")
    assert found is not None
    assert found.foreign_files == (first,)


def test_units_in_order_behind_the_log_are_lost_messages(tmp_path: Path) -> None:
    store = copied(tmp_path)
    (store / LAST_FILE).unlink()
    found = foretold(store)
    lost = [
        one for one in found["messages"]["lost"] if one["why"].endswith("before it")
    ]
    assert sum(one["count"] for one in lost) == found["totals"]["lost"] > 10


def test_messages_without_a_unit_are_to_be_salvaged(tmp_path: Path) -> None:
    store = copied(tmp_path)
    shutil.rmtree(store / "consumequeue" / "HandoverOrders")
    result = recover(store, "--release", "4.6.0")
    assert "kept in the log, but no consumer receives them" in result.output
    assert result.output.endswith(f"rmqc salvage {store} -o NEW\n")


def test_a_store_without_a_log_file_cannot_be_salvaged(tmp_path: Path) -> None:
    store = copied(tmp_path)
    for path in (store / "commitlog").iterdir():
        path.unlink()
    result = recover(store, "--release", "4.6.0")
    assert "161 messages of " in result.output
    assert "rmqc salvage" not in result.output


def test_a_later_restart_is_forecast_where_it_is_worse(tmp_path: Path) -> None:
    store = with_damage_before_recovery(tmp_path)
    first = foretold(store)
    result = recover(store, "--release", "4.6.0")
    assert first["starts"] is True
    assert first["log"]["cut_bytes"] == "0"
    assert f"A later restart loses {first['later_start']['lost']} messages more" in (
        result.output
    )
    assert result.exit_code == 1
    (store / "abort").unlink()
    later = foretold(store)
    assert later["later_start"] is None
    assert later["log"]["max"] == first["later_start"]["log_end"]
    more = later["totals"]["lost"] - first["totals"]["lost"]
    assert more == first["later_start"]["lost"] > 10


def test_units_that_point_at_garbage_are_no_messages(tmp_path: Path) -> None:
    store = with_damage_before_recovery(tmp_path)
    lost = foretold(store)["totals"]["unreadable"]
    result = recover(store, "--release", "4.6.0", "--copy", tmp_path / "copy")
    assert f" units, {lost} of them without a readable message." in result.output
    assert "the batch of up to 32 messages" in result.output


@pytest.mark.parametrize(
    ("begin", "text"),
    [
        (0, "Index files deleted and written again: index/"),
        (-1, ". Lookups by key no longer find their messages in earlier"),
    ],
)
def test_a_deleted_index_file_is_written_again(
    begin: int, text: str, tmp_path: Path
) -> None:
    store = copied(tmp_path)
    (store / "abort").touch()
    (store / "checkpoint").unlink()
    path = max((store / "index").iterdir())
    with path.open("r+b") as file:
        file.seek(16)
        file.write(begin.to_bytes(8, "big", signed=True))
    result = recover(store, "--release", "4.6.0")
    assert text in result.output
    rewritten = foretold(store)["index"]["rewritten_files"]
    assert (f"index/{path.name}" in rewritten) is (begin == 0)


def test_an_index_file_without_a_header_is_noted(tmp_path: Path) -> None:
    store = copied(tmp_path)
    path = max((store / "index").iterdir())
    path.write_bytes(b"")
    result = recover(store, "--release", "4.6.0")
    assert f"index/{path.name} has no header: lookups by key do not find" in (
        result.output
    )


@pytest.mark.parametrize("release", ["4.6.0", "4.9.7", "5.3.3", "5.5.0"])
def test_a_file_in_place_of_the_queues_stops_dispatch(
    release: str, tmp_path: Path
) -> None:
    """Real brokers start, have empty queues and refuse sends."""
    store = copied(tmp_path, f"{release}-stopped")
    shutil.rmtree(store / "consumequeue")
    rebuilt = foretold(store, release)
    (store / "consumequeue").touch()
    found = foretold(store, release)
    assert found["starts"] is True
    assert rebuilt["totals"]["invisible"] == 0
    assert found["totals"]["invisible"] == sum(
        int(queue["max"])
        for one in rebuilt["queues"].values()
        for queue in one.values()
    )
    notes = [one["says"] for one in found["notes"]]
    assert any(one.startswith("consumequeue is no directory") for one in notes)
    forecast = start_forecast(str(store), release)
    assert forecast is not None
    assert forecast.rebuilt is not None
    assert forecast.invisible > 0 == forecast.rebuilt.invisible


@pytest.mark.parametrize(("has_abort", "count"), [(False, 2), (True, 0)])
def test_units_behind_the_early_end_of_an_lmq_are_invisible(
    has_abort: bool, count: int, tmp_path: Path
) -> None:
    """A real 5.5.0 after a stop loses them. After a crash it dispatches them again."""
    store = copied(tmp_path, "5.3.3-stopped")
    own = store / "consumequeue" / "HandoverOrders" / "0" / "00000000000000000000"
    units = own.read_bytes()
    file = store / "consumequeue" / "%LMQ%one" / "0" / own.name
    file.parent.mkdir(parents=True)
    file.write_bytes((units[:20] + bytes(20) + units[40:80]).ljust(len(units), b"\0"))
    if has_abort:
        (store / "abort").touch()
    found = foretold(store, "5.3.3")["messages"]["invisible"]
    counts = [one["count"] for one in found if one["topic"] == "%LMQ%one"]
    assert sum(counts) == count


def test_a_second_copy_of_a_record_is_not_invisible(tmp_path: Path) -> None:
    store = with_damage_before_recovery(tmp_path)
    with (store / "commitlog" / file_name(0)).open("r+b") as file:
        records = scan(file.read()).records
        early, late = next(
            (one, other)
            for one, other in combinations(records, 2)
            if one.record.topic == other.record.topic
            and one.record.queue_id == other.record.queue_id
            and one.size < other.size
        )
        file.seek(early.offset)
        copy = file.read(early.size)
        file.seek(late.offset)
        file.write(copy)
    hidden = foretold(store)["messages"]["invisible"]
    assert "its unit has the size" not in str(hidden)

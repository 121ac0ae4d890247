"""Configuration files of the wrong shape: their .bak is read, with a warning."""

from __future__ import annotations

import pytest

from reference.core.remoting.effects import LogError
from reference.core.store.mapped.files import FilesError
from reference.tests.broker.broker_driver import NOON_MS, BrokerDriver
from reference.tests.memory_files import MemoryFiles
from spec.store.config.config_files import (
    CONSUMER_FILTERS_FILE,
    CONSUMER_OFFSETS_FILE,
    DELAY_OFFSETS_FILE,
    GROUPS_FILE,
    TOPICS_FILE,
)

GOOD = {
    TOPICS_FILE: '{"topicConfigTable":{"Kept":{"topicName":"Kept","readQueueNums":3}}}',
    GROUPS_FILE: '{"subscriptionGroupTable":{"Kept":{"groupName":"Kept"}}}',
    CONSUMER_OFFSETS_FILE: '{"offsetTable":{"Kept@g":{0:7}}}',
    DELAY_OFFSETS_FILE: '{"offsetTable":{1:7}}',
    CONSUMER_FILTERS_FILE: '{"filterDataByTopic":{}}',
}
TABLES = {
    TOPICS_FILE: "topicConfigTable",
    GROUPS_FILE: "subscriptionGroupTable",
    CONSUMER_OFFSETS_FILE: "offsetTable",
    DELAY_OFFSETS_FILE: "offsetTable",
}
CUT = '{"dataVersion":{"counter":1'
BROKEN = [
    *((name, text) for name in GOOD for text in (CUT, "[1,2]", '"text"', "7", "\0\0")),
    *(
        (name, f'{{"{table}":{value}}}')
        for name, table in TABLES.items()
        for value in ("[1,2]", '"text"', "7", '{"Kept":"text"}', '{"Kept":[1]}')
    ),
    (TOPICS_FILE, '{"topicConfigTable":{"Kept":{"readQueueNums":"four"}}}'),
    (TOPICS_FILE, '{"topicConfigTable":{"Kept":{}},"dataVersion":[1]}'),
    (TOPICS_FILE, '{"topicConfigTable":{"Kept":{}},"dataVersion":{"counter":"x"}}'),
    (GROUPS_FILE, '{"subscriptionGroupTable":{"K":{"retryMaxTimes":"x"}}}'),
    (CONSUMER_OFFSETS_FILE, '{"offsetTable":{"Kept@g":{"x":7}}}'),
    (CONSUMER_OFFSETS_FILE, '{"offsetTable":{"Kept@g":{0:"seven"}}}'),
    (DELAY_OFFSETS_FILE, '{"offsetTable":{"one":7}}'),
    (DELAY_OFFSETS_FILE, '{"offsetTable":{1:null}}'),
]


def with_texts(name: str, text: str, backup: str) -> MemoryFiles:
    """Return the files of a new store, but for one configuration file."""
    files = MemoryFiles()
    for other, good in GOOD.items():
        files.texts[f"config/{other}"] = good
    files.texts[f"config/{name}"] = text
    files.texts[f"config/{name}.bak"] = backup
    return files


def lines_of(driver: BrokerDriver) -> list[str]:
    """Return the lines for the operator so far."""
    effects = driver.broker.take_effects()
    return [effect.text for effect in effects if isinstance(effect, LogError)]


def assert_all_kept(driver: BrokerDriver) -> None:
    """Assert that the broker has the content of all good files."""
    state = driver.broker.state
    assert state.topics.table["Kept"].read_queue_count == 3
    assert "Kept" in state.groups.table
    assert state.offsets.query("g", "Kept", 0) == 7
    assert state.store.schedule_service.offsets == {1: 7}


@pytest.mark.parametrize(("name", "text"), BROKEN)
def test_the_backup_of_a_broken_file_is_read(name: str, text: str) -> None:
    driver = BrokerDriver(files=with_texts(name, text, GOOD[name]))
    assert_all_kept(driver)
    (line,) = lines_of(driver)
    assert line.startswith(f"config/{name} is broken (")
    assert line.endswith("; its .bak is read")
    assert "LayoutError" not in line
    assert "\n" not in line


@pytest.mark.parametrize(("name", "text"), BROKEN)
def test_two_broken_copies_are_one_error(name: str, text: str) -> None:
    with pytest.raises(
        FilesError, match=rf"^config/{name} is broken .*\.bak is broken"
    ):
        BrokerDriver(files=with_texts(name, text, text))


@pytest.mark.parametrize("text", ["", "null", " \n", "[]"])
@pytest.mark.parametrize("name", TABLES)
def test_an_empty_file_holds_nothing(name: str, text: str) -> None:
    driver = BrokerDriver(files=with_texts(name, text, ""))
    is_empty = not text.strip() and (not text or name == GROUPS_FILE)
    state = f"is {text.strip() or 'blank'}: nothing is read"
    state = "is empty, and its .bak is empty" if is_empty else state
    assert lines_of(driver) == [f"config/{name} {state}"]


def test_the_copy_of_blank_groups_is_read() -> None:
    files = with_texts(GROUPS_FILE, " \n", GOOD[GROUPS_FILE])
    driver = BrokerDriver(files=files)
    assert lines_of(driver) == [f"config/{GROUPS_FILE} is empty; its .bak is read"]


def test_the_only_good_copy_is_not_replaced_by_a_broken_one() -> None:
    files = with_texts(TOPICS_FILE, CUT, GOOD[TOPICS_FILE])
    driver = BrokerDriver(files=files)
    saved = []
    write = files.replace_text

    def replace_text(path: str, text: str) -> None:
        saved.append(path)
        write(path, text)

    files.replace_text = replace_text  # type: ignore[method-assign]
    for topic in ("First", "Second"):
        driver.broker.state.topics.create_once(
            topic, queue_count=1, permission=6, now_ms=NOON_MS
        )
        driver.broker.take_effects()
    assert saved == [
        f"config/{TOPICS_FILE}",
        f"config/{TOPICS_FILE}.bak",
        f"config/{TOPICS_FILE}",
    ]
    backup = files.read_text(f"config/{TOPICS_FILE}.bak")
    assert backup is not None
    assert "First" in backup
    assert "Kept" in backup

"""Settings of a broker: bad ones are one line and exit code 2, others a warning."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from reference.core.broker.broker_config import BrokerOptions
from reference.core.settings import SettingError, read_properties
from reference.core.store.types import StoreOptions
from reference.shell.__main__ import main
from reference.shell.name_server import main as name_server_main
from reference.shell.settings_files import (
    read_settings_text,
    resolve,
    resolve_address,
)
from reference.shell.storage.disk import DiskFiles
from spec.wire.bodies import fastjson
from spec.wire.remoting.command import decode_command

FRAMES = Path(__file__).parents[3] / "fixtures" / "wire" / "4.6.0-json"
RECORDED = FRAMES / "get_broker_config.answer-0.bin"
"""A response of 4.6.0 to GET_BROKER_CONFIG."""
CHANGED = {
    *("diskMaxUsedSpaceRatio", "haListenPort", "listenPort", "maxHashSlotNum"),
    *("mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue", "maxIndexNum"),
    "osPageCacheBusyTimeOutMills",
}
"""Settings of the recorded broker that are not its defaults."""


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("messageDelayLevel=1s 5", "messageDelayLevel: '5' is not a duration"),
        ("mapedFileSizeCommitLog=10", "mappedFileSizeCommitLog is 10, not between 256"),
        ("mapedFileSizeCommitLog=-1", "mappedFileSizeCommitLog is -1, not between"),
        ("mapedFileSizeCommitLog=abc", "mappedFileSizeCommitLog is 'abc', which is no"),
        ("peerMemoryMax=1", "peerMemoryMax is 1, not between 134217728 and"),
        ("brokerId=x", "brokerId is 'x', which is not a number"),
        ("fileReservedTime=1_0", "fileReservedTime is '1_0', which is not a number"),
        ("listenPort=99999", "listenPort is 99999, not between 1 and 65535"),
        ("flushIntervalCommitLog=0", "flushIntervalCommitLog is 0, not between 1"),
        ("brokerIP1=no.such.invalid", "the host 'no.such.invalid' cannot be resolved"),
        ("namesrvAddr=nowhere", "namesrvAddr: 'nowhere' is not an address such as"),
    ],
)
def test_a_bad_setting_is_one_line(
    line: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broker.conf"
    file.write_text(f"{line}\n")
    ports = ["--namesrv-port", "39871", "--broker-port", "39911"]
    assert main(["-c", str(file), "--store", str(tmp_path / "store"), *ports]) == 2
    (found,) = capsys.readouterr().err.splitlines()
    assert found.startswith(f"cannot serve: {error}")


def test_a_port_in_use_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        store = tmp_path / "store"
        assert main(["--namesrv-port", port, "--store", str(store)]) == 2
        assert not store.exists()
        assert name_server_main(["--port", port, "--home", str(tmp_path)]) == 2
    error = f"cannot serve: cannot listen on 127.0.0.1:{port}: Address already in use"
    assert capsys.readouterr().err.splitlines() == [error, error]


def test_a_bad_setting_is_named_before_a_port_in_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broker.conf"
    file.write_text("namesrvAddr=nowhere\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = ["-c", str(file), "--store", str(tmp_path), "--namesrv-port", port]
        assert main(words) == 2
    assert "namesrvAddr: 'nowhere'" in capsys.readouterr().err


def test_a_port_beyond_the_last_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--store", str(tmp_path)]
    assert main(["--namesrv-port", "99999", *place]) == 2
    assert main(["--broker-port", "99999", *place]) == 2
    assert name_server_main(["--port", "99999", "--home", str(tmp_path)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "cannot serve: --namesrv-port is 99999, not between 1 and 65535",
        "cannot serve: listenPort is 99999, not between 1 and 65535",
        "cannot serve: listenPort is 99999, not between 1 and 65535",
    ]


def test_keys_without_effect_are_named() -> None:
    settings = {
        "storePathCommitLog": "/x",
        "haListenPort": "14000",
        "brokerNmae": "b",
        "brokerIP2": "127.0.0.1",
        "zzz": "",
    }
    assert BrokerOptions.warnings(settings) == [
        "brokerNmae is not a setting of a 4.6.0 broker (did you mean brokerName?)",
        "haListenPort has no effect here",
        "storePathCommitLog has no effect here",
        "zzz is not a setting of a 4.6.0 broker",
    ]


def test_a_word_that_java_takes_for_false_is_named() -> None:
    settings = {"autoCreateTopicEnable": "yes", "traceTopicEnable": "TRUE"}
    assert BrokerOptions.warnings(settings) == [
        "autoCreateTopicEnable is 'yes', which counts as false"
    ]


def test_a_bad_setting_that_an_option_replaces_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("listenPort=x\nzzz=1\n")
    place = ["-c", str(file)]
    assert main([*place, "--broker-port", "1", "--store", str(tmp_path)]) == 2
    assert name_server_main([*place, "--port", "1", "--home", str(tmp_path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"{file}: zzz is not a setting of a 4.6.0 broker",
        "cannot serve: listenPort is 'x', which is not a number",
        f"{file}: zzz is not a setting of a 4.6.0 name server",
        "cannot serve: listenPort is 'x', which is not a number",
    ]


def test_every_setting_is_declared_once() -> None:
    others = BrokerOptions.WITHOUT_EFFECT.split()
    assert len(set(others)) == len(others)
    assert not BrokerOptions.TABLE.keys() & set(others)
    attributes = [row.attribute for row in BrokerOptions.TABLE.values()]
    assert len(set(attributes)) == len(attributes)


def test_a_default_is_what_its_text_means() -> None:
    options = BrokerOptions()
    assert BrokerOptions(options.texts()).texts() == options.texts()
    for row in BrokerOptions.TABLE.values():
        assert getattr(options, row.attribute) == row.default


def test_defaults_are_those_of_the_release() -> None:
    recorded = decode_command(RECORDED.read_bytes()).body.decode()
    theirs = read_properties(recorded)
    ours = BrokerOptions().shown()
    other = {
        name: f"{text}, not {theirs[name]}"
        for name, text in ours.items()
        if name in theirs and text != theirs[name] and name not in CHANGED
    }
    assert not other, "defaults differ from those of 4.6.0"
    assert ours.keys() - theirs.keys() == {"peerMemoryMax"}


def test_the_defaults_of_a_store_are_those_of_its_settings() -> None:
    """`broker_config.py` and `store/types.py` both have them."""
    assert BrokerOptions().store_options() == StoreOptions()


def test_comments_may_have_any_encoding(tmp_path: Path) -> None:
    file = tmp_path / "broker.conf"
    file.write_bytes("# 名字\nbrokerName=b\n".encode("gbk") + b"# \x85x=1\r\na=2")
    found = read_properties(read_settings_text(file))
    assert found == {"brokerName": "b", "a": "2"}


def test_host_names_are_resolved() -> None:
    assert resolve("localhost") == "127.0.0.1"
    assert resolve_address("namesrvAddr", "localhost:9876") == ("127.0.0.1", 9876)
    assert resolve_address("namesrvAddr", "[::1]:9876") == ("::1", 9876)
    with pytest.raises(SettingError, match="cannot be resolved"):
        resolve("no.such.invalid")


def test_the_first_separator_ends_a_name() -> None:
    text = "key: a=b\nother = c:d\n"
    assert read_properties(text) == {"key": "a=b", "other": "c:d"}


def test_half_of_a_surrogate_pair_is_written_as_java_writes_it(tmp_path: Path) -> None:
    """A client may choose such a name; a table must still be persisted."""
    files = DiskFiles(tmp_path)
    files.replace_text("table.json", 'a\ud800b\udfffc\udce9"')
    assert (tmp_path / "table.json").read_bytes() == b'a?b?c\xe9"'
    assert fastjson.dumps({"a\ud800": "\udc00"}) == b'{"a?":"?"}'

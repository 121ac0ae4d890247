"""Target files: an error is one line, and a valid target starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.java.apache_conf import spelled_as
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.health import is_silent
from conformance.harness.targets.started import jvm
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.started.target_file import (
    PLACEHOLDERS,
    read_target_file,
)
from conformance.harness.targets.target import Capability, TargetError, parse_target
from spec.wire.remoting.request_code import RequestCode

TARGETS = SOURCES / "conformance" / "targets"
BROKER = '[broker]\ncommand = ["b", "{store}", "{conf}"]\n'
GOOD = f'release = "4.6.0"\n{BROKER}'

NAME_SERVER = """
release = "4.6.0"
[settings]
brokerName = "of {broker_port}"
[environment]
WHERE = "{work} {namesrv_addr}"
[name_server]
command = ["{python}", "-m", "reference.shell.name_server",
           "--port", "{namesrv_port}", "--home", "{work}/namesrv"]
directory = "SOURCES"
[broker]
command = ["{python}", "-uc", "PROGRAM", "{conf}"]
ready_line = "up"
stop_signal = "SIGINT"
""".replace("SOURCES", str(SOURCES))
BROKER_PROGRAM = (
    "import os, signal, sys; print(open(sys.argv[1]).read() + os.environ['WHERE']);"
    " print('up'); signal.pause()"
)


def written(directory: Path, text: str) -> Path:
    """Return a target file with *text*."""
    path = directory / "target.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("release = ", "Invalid value"),
        ('release = "4.6.0"\n', "there is no table [broker], which states how"),
        (BROKER, "no release"),
        ('release = "new"\n' + BROKER, "new"),
        ("brokers = 1\n" + GOOD, "there is no brokers; there are admin, "),
        ('release = "4.6.0"\n[broker]\n', "broker.command is no list of texts"),
        ('release = "4.6.0"\n[broker]\ncommand = []\n', "broker.command is empty"),
        (GOOD + 'stop = "TERM"\n', "there is no broker.stop; there are command, "),
        (GOOD + 'stop_signal = "STRIKE"\n', "stop_signal: there is no signal STRIKE"),
        (GOOD + "ready_timeout_s = 0\n", "ready_timeout_s is no number of seconds"),
        (GOOD + "directory = 3\n", "broker.directory is no text"),
        (GOOD.replace("{store}", "{stroe}"), "{stroe} in '{stroe}' is not one of {nam"),
        ('capabilities = ["fly"]\n' + GOOD, "capabilities: fly is not one of wire, "),
        ('capabilities = ["clock"]\n' + GOOD, "it claims clock, but nothing uses {cl"),
        ('refuses = ["SEND"]\n' + GOOD, "refuses: there is no request SEND"),
        (GOOD + "[settings]\nflushDiskType = 3\n", "settings.flushDiskType is no text"),
        (GOOD + "[ports]\nbroker = 1\n", "ports: name_server and broker are two port"),
        (
            'capabilities = ["kill"]\n' + GOOD + "[ports]\nname_server=1\nbroker=2\n",
            "with fixed [ports] there is only one peer: it cannot claim kill",
        ),
    ],
)
def test_a_fault_is_one_line_that_names_file_and_key(
    text: str, message: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(TargetError) as refused:
        parse_target(f"cmd:{path}")
    text = str(refused.value)
    assert text.startswith(f"{path}: ")
    assert message in text
    assert "\n" not in text


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="No such file"):
        parse_target(f"cmd:{tmp_path / 'none.toml'}")


def test_the_template_is_a_target_file_that_explains_every_key() -> None:
    path = TARGETS / "template.toml"
    read = read_target_file(path)
    text = path.read_text(encoding="utf-8")
    assert read.name_server is not None
    for name in (*read.broker.__dataclass_fields__, *PLACEHOLDERS, *Capability):
        assert name in text or name == "wire", name


def test_the_page_about_targets_shows_the_template() -> None:
    page = (SOURCES / "docs" / "targets.md").read_text(encoding="utf-8")
    template = (TARGETS / "template.toml").read_text(encoding="utf-8")
    assert f"```toml\n{template}```\n" in page


def test_what_is_declared_is_read(tmp_path: Path) -> None:
    text = 'refuses = ["END_TRANSACTION"]\ncapabilities = ["store", "config"]\n'
    target = parse_target(f"cmd:{written(tmp_path, text + GOOD)}?a=b")
    assert target.refuses == {RequestCode.END_TRANSACTION}
    assert target.capabilities == {
        Capability.WIRE,
        Capability.STORE,
        Capability.CONFIG,
    }
    assert (target.release, target.conf) == ("4.6.0", {"a": "b"})


PROXY = f"""
release = "4.6.0"
[admin]
command = ["{{python}}", "-m", "reference.shell", "--namesrv-port", "{{namesrv_port}}",
           "--broker-port", "{{admin_port}}", "--store", "{{store}}"]
directory = "{SOURCES}"
[broker]
command = ["{{python}}", "-m", "http.server", "{{broker_port}}", "--bind", "127.0.0.1"]
ready_timeout_s = 5
"""


def test_the_broker_behind_a_proxy_creates_topics(tmp_path: Path) -> None:
    with parse_target(f"cmd:{written(tmp_path, PROXY)}") as target:
        assert target.admin not in (None, target.broker)
        create_topic(target, unique_name("behind"))


@pytest.mark.parametrize("mode", ["cluster", "local"])
def test_the_files_of_apaches_proxy_are_target_files(mode: str) -> None:
    read = read_target_file(TARGETS / f"apache-proxy-{mode}.toml")
    assert (read.has_admin, read.admin is None) == (True, mode == "local")


def test_the_reference_is_started_as_a_foreign_program() -> None:
    with parse_target(f"cmd:{TARGETS / 'reference.toml'}?brokerName=b1") as target:
        assert (target.broker_name, target.cluster) == ("b1", "DefaultCluster")
        with target.connect_to_broker() as broker:
            topic = create_topic(target, unique_name("kept"))
            sent = require_success(broker.send_message(topic=topic, body=b"kept"))
        target.restart()
        with target.connect_to_broker() as broker:
            again = broker.view_message_by_id(sent.fields["msgId"])
        assert again.body.find(b"kept") > 0
        target.kill()
        assert target.store_path is not None
        assert (target.store_path / "abort").exists()
        target.start()
        target.stop()
        assert not (target.store_path / "abort").exists()
        store = target.store_path
    assert not store.exists()


def test_two_programs_get_settings_environment_and_signals(tmp_path: Path) -> None:
    text = NAME_SERVER.replace("PROGRAM", BROKER_PROGRAM)
    with parse_target(f"cmd:{written(tmp_path, text)}?more=1") as target:
        assert target.broker is not None
        assert f" {target.namesrv}\n" in getattr(target, "log", "")
        assert isinstance(target.store_path, Path)
        text = getattr(target, "log", "")
        assert f"brokerName=of {target.broker.port}\nmore=1\n" in text
        assert str(target.store_path.parent) in text
        target.stop()  # Python's default handler of SIGINT ends the program


def test_a_broker_registers_with_the_name_servers_of_a_test_too(tmp_path: Path) -> None:
    text = NAME_SERVER.replace("PROGRAM", BROKER_PROGRAM)
    others = "127.0.0.1:1;127.0.0.1:2"
    path = written(tmp_path, text)
    with parse_target(f"cmd:{path}", conf={"namesrvAddr": others}) as target:
        log = getattr(target, "log", "")
        every = f"{target.namesrv};{others}"
    assert f" {every}\n" in log
    assert f"namesrvAddr={every}\n" in log


SLOW_PROGRAM = """
import signal, sys, threading, time
from conformance.harness.client.lying_server import LyingServer, honest
def answer(request):
    time.sleep(max(0, begun + float(sys.argv[2]) - time.monotonic()))
    return honest(request)
begun = time.monotonic()
LyingServer(answer, port=int(sys.argv[1])).__enter__()
signal.pause()
"""


def slow_program(directory: Path, delay_s: float, timeout_s: float) -> str:
    """Return a target that accepts connections *delay_s* before it responds."""
    (directory / "slow.py").write_text(SLOW_PROGRAM, encoding="utf-8")
    text = f"""
release = "4.6.0"
[environment]
PYTHONPATH = "{SOURCES}"
[broker]
command = ["{{python}}", "slow.py", "{{broker_port}}", "{delay_s}"]
ready_timeout_s = {timeout_s}
"""
    return f"cmd:{written(directory, text)}"


def test_a_program_that_listens_early_is_ready_when_it_responds(tmp_path: Path) -> None:
    with parse_target(slow_program(tmp_path, 4.0, 60)) as target:
        assert target.broker is not None
        assert not is_silent(target.broker, patience_s=0.5)


def test_a_program_that_never_responds_is_left_to_the_tests(tmp_path: Path) -> None:
    with parse_target(slow_program(tmp_path, 600.0, 10)) as target:
        assert target.broker is not None
        assert is_silent(target.broker, patience_s=0.5)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ('["no-such-program"]', "there is no program no-such-program"),
        ('["bin/none", "{store}"]', "there is no program bin/none"),
        ('["{python}", "-c", "print(\'it is broken\')"]', "it is broken"),
    ],
)
def test_a_program_that_does_not_start_is_told_with_its_output(
    command: str, message: str, tmp_path: Path
) -> None:
    path = written(tmp_path, f'release = "4.6.0"\n[broker]\ncommand = {command}\n')
    with pytest.raises(TargetError, match=message), parse_target(f"cmd:{path}"):
        pass


def test_of_fixed_ports_that_are_taken_the_taken_one_is_named(tmp_path: Path) -> None:
    with parse_target("embedded:") as other:
        assert other.namesrv is not None
        ports = f"[ports]\nname_server = {other.namesrv.port}\nbroker = 1\n"
        path = written(tmp_path, GOOD + ports)
        text = f"another process listens on {other.namesrv}"
        with pytest.raises(TargetError, match=text), parse_target(f"cmd:{path}"):
            pass


@pytest.mark.parametrize(
    ("release", "name"),
    [("4.5.1", "mapedFileSizeCommitLog"), ("4.5.2", "mappedFileSizeCommitLog")],
)
def test_settings_are_spelled_as_the_claimed_release_spells_them(
    release: str, name: str
) -> None:
    for given in ("mapedFileSizeCommitLog", "mappedFileSizeCommitLog"):
        assert spelled_as(release, {given: "1", "brokerName": "b"}) == {
            name: "1",
            "brokerName": "b",
        }


def test_a_profile_does_not_choose_the_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(release: str, **_: object) -> None:
        raise TargetError(f"started {release}")

    monkeypatch.setattr(jvm, "ApacheCluster", started)
    target = parse_target("jvm:5.3.3", profile="5.4")
    assert target.release == "5.4.0"
    with pytest.raises(TargetError, match=r"^started 5\.3\.3$"):
        target.__enter__()

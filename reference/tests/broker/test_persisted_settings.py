"""Settings that a tool changes: the file of the start has them, and all that it had."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reference.core.settings import replace_properties
from reference.shell.settings_files import persist_settings
from reference.tests.local_process import ROOT, TIMEOUT_S, invoke
from spec.wire.remoting.request_code import RequestCode

PROGRAM = sys.executable, "-m", "reference.shell", "--namesrv-port", "0"


@contextmanager
def running(*words: str) -> Iterator[int]:
    """Run a broker; yield its port; stop it in good order."""
    with subprocess.Popen(
        [*PROGRAM, "--broker-port", "0", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            (broker,) = [
                word.rpartition(":")[2]
                for word in process.stdout.readline().split()
                if word.startswith("broker=")
            ]
            yield int(broker)
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIMEOUT_S) == 0
        finally:
            process.kill()


def test_a_changed_setting_outlives_the_broker(tmp_path: Path) -> None:
    target, config = tmp_path / "broker.conf", tmp_path / "link"
    target.write_text("# mine\nfileReservedTime=71\nownWord=7\n", encoding="utf-8")
    config.symlink_to(target)
    words = ["--store", str(tmp_path / "store"), "-c", str(config)]
    with running(*words) as port:
        changes = b"fileReservedTime=48\nmaxMsgsNumBatch=9\nnobodysWord=1\n"
        invoke(port, RequestCode.UPDATE_BROKER_CONFIG, changes)
    kept = "# mine\nfileReservedTime=48\nownWord=7\nmaxMsgsNumBatch=9\n"
    assert target.read_text(encoding="utf-8") == kept
    assert config.is_symlink()
    with running(*words) as port:
        settings = invoke(port, RequestCode.GET_BROKER_CONFIG).body.splitlines()
        assert {b"fileReservedTime=48", b"maxMsgsNumBatch=9"} <= set(settings)


def test_lines_that_are_no_settings_stay() -> None:
    text = "! a\u2028b=c\r\n\r\n b : 1\r\nb=2"
    changed = replace_properties(text, {"b": "3", "a": "4"})
    assert changed == "! a\u2028b=c\n\nb=3\nb=3\na=4\n"
    assert replace_properties("", {"a": "4"}) == "a=4\n"


def test_bytes_of_another_encoding_stay(tmp_path: Path) -> None:
    file = tmp_path / "broker.conf"
    file.write_bytes(b"# gr\xfc\xdfe\n")
    persist_settings(file, {"maxMsgsNumBatch": "9"})
    assert file.read_bytes() == b"# gr\xfc\xdfe\nmaxMsgsNumBatch=9\n"
    persist_settings(None, {"maxMsgsNumBatch": "9"})

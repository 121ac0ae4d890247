"""Child processes end with the run that started them, and not earlier."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.process.process import orphans, start
from conformance.harness.process.spawn_thread import run_on_spawn_thread
from conformance.meta.targets.processes import is_alive

STARTER = """
import sys, threading, time
from pathlib import Path
from conformance.harness.process.process import start

PROGRAM = "import time; print('began', flush=True); time.sleep(600)"

def begin():
    child = start("sleeper", [sys.executable, "-c", PROGRAM], log=Path(sys.argv[1]))
    child.wait_for_line("began")
    found.append(child)

found = []
thread = threading.Thread(target=begin)
thread.start()
thread.join()
time.sleep(0.2)  # as long as a child that ends with the thread takes to end, and more
print(found[0].pid, found[0].running, flush=True)
time.sleep(600)
"""


ADAPTER = """
import sys, time
from conformance.harness.targets.client_adapter import Adapter
adapter = Adapter(sys.executable + " -c 'import time; time.sleep(600)'")
print(adapter._process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends them for us")
def test_an_adapter_that_reads_nothing_ends_with_the_process_that_is_killed() -> None:
    words = [sys.executable, "-c", ADAPTER]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        time.sleep(0.5)  # the adapter's launcher has set its signal
        run.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), what="the adapter is gone", timeout_s=20)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends them for us")
def test_what_a_short_thread_started_ends_with_the_process_that_is_killed(
    tmp_path: Path,
) -> None:
    words = [sys.executable, "-c", STARTER, str(tmp_path / "log")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        pid, running = run.stdout.readline().split()
        run.send_signal(signal.SIGKILL)
    assert running == "True"
    wait_until(lambda: not is_alive(int(pid)), what="the child is gone", timeout_s=20)


def test_the_error_of_a_call_reaches_the_thread_that_asked() -> None:
    with ThreadPoolExecutor(1) as threads:
        command = threads.submit(run_on_spawn_thread, lambda: int("nothing"))
    assert "invalid literal" in str(command.exception(timeout=20))


WRAPPED = """
trap 'sleep 0.3; echo stopped; exit 0' TERM
echo began
while :; do sleep 0.05; done
"""


@pytest.mark.parametrize("way", ["terminate", "kill"])
def test_the_program_of_a_wrapper_that_has_ended_ends_too(
    way: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.sh"
    program.write_text(WRAPPED)
    command: list[str | Path] = ["sh", "-c", 'sh "$0" & exit 7', program]
    child = start("wrapper", command, log=tmp_path / "log")
    assert child.wait_end() == 7
    wait_until(lambda: "began" in child.output(), what="the program has begun")
    assert len(orphans(child.pid)) > 0
    assert (child.terminate() if way == "terminate" else child.kill()) == 7
    wait_until(lambda: not orphans(child.pid), what="the program has ended")
    assert ("stopped" in child.output()) == (way == "terminate")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has timer slack")
def test_a_program_has_the_requested_timer_slack(tmp_path: Path) -> None:
    command = ["cat", "/proc/self/timerslack_ns"]
    child = start("slack", command, log=tmp_path / "log", timer_slack_s=0.01)
    child.wait_end()
    assert child.output() == "10000000\n"

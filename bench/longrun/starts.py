"""
Starts with wrong settings, with damaged files and on a full disk, beside Apache's.

    python -m bench.longrun.starts [--against RELEASE]

Each case is tried on the reference and on Apache's broker of the release, with the same
text of broker.conf and the same store. Whether a broker serves is seen by a message
that is sent and stored. One that ends is described by its exit code and by the number
of lines that it printed. A full disk needs the right to mount one.

The exit code is 1 if the reference ends without serving in any other way than with
exit code 2 and one line.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.processes.servers import check_release
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer_errors import PeerError
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.process.ports import port_block
from conformance.harness.process.process import ProcessError, start
from conformance.harness.process.small_disk import SmallDisk, mount
from conformance.harness.targets.started.embedded import SETTINGS
from rocketmq_conformance.paths import module_command
from spec.store.config.config_files import BACKUP_SUFFIX, TOPICS_FILE
from spec.store.file_names import CONFIG

RELEASE = "4.6.0"
DEADLINE_S = 60.0
TOPIC = "Starts"
SERVES = "serves"
BAD_SHAPE = b'{"topicConfigTable":[1,2]}'

Change = Callable[[Path], None]


def _unchanged(store: Path) -> None:
    """Leave the store as it is."""


def _corrupt_topics(store: Path) -> None:
    """Let topics.json have the wrong shape, without a backup."""
    path = store / CONFIG / TOPICS_FILE
    path.with_name(path.name + BACKUP_SUFFIX).unlink(missing_ok=True)
    path.write_bytes(BAD_SHAPE)


def _corrupt_topics_with_backup(store: Path) -> None:
    """Let topics.json have the wrong shape beside a good backup."""
    path = store / CONFIG / TOPICS_FILE
    shutil.copy(path, path.with_name(path.name + BACKUP_SUFFIX))
    path.write_bytes(BAD_SHAPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One start."""

    name: str
    settings: bytes = b""
    """Lines at the end of broker.conf."""
    change: Change = _unchanged
    """Called with the store of a broker that was stopped."""
    fills_disk: bool = False


CASES = (
    Case(name="host name as brokerIP1", settings=b"brokerIP1=localhost"),
    Case(name="comment in GBK", settings="# 消息".encode("gbk")),
    Case(name="messageDelayLevel=abc", settings=b"messageDelayLevel=abc"),
    Case(name="listenPort=99999", settings=b"listenPort=99999"),
    Case(name="log files of 10 bytes", settings=b"mapedFileSizeCommitLog=10"),
    Case(name="log files of -1 bytes", settings=b"mapedFileSizeCommitLog=-1"),
    Case(name="brokerId=x", settings=b"brokerId=x"),
    Case(name="unknown key", settings=b"flushDiskTyp=SYNC_FLUSH"),
    Case(name="topics.json of the wrong shape", change=_corrupt_topics),
    Case(name="the same beside a good .bak", change=_corrupt_topics_with_backup),
    Case(name="full disk", fills_disk=True),
)


class Broker:
    """One of the two brokers, with a store and settings that a case gives it."""

    def __init__(self, release: str | None, directory: Path) -> None:
        """Prepare Apache's *release* below *directory*, or the reference if None."""
        self.release, self.directory = release, directory
        self.store = directory / "store"

    def tried(self, settings: bytes) -> str:
        """Start it with *settings* added; return what it does, and stop it."""
        run = self._reference if self.release is None else self._apache
        try:
            with run(settings) as broker:
                return _served(broker)
        except ProcessError as error:
            return str(error).splitlines()[0].partition(": ")[2]

    @contextmanager
    def _reference(self, settings: bytes) -> Iterator[Address]:
        conf = self.directory / "broker.conf"
        lines = [f"{key}={value}\n" for key, value in SETTINGS.items()]
        conf.write_bytes("".join(lines).encode() + settings)
        with port_block() as ports:
            words = ["--namesrv-port", str(ports.name_server)]
            if b"listenPort" not in settings:
                words += ["--broker-port", str(ports.broker)]
            program = module_command(
                "reference.shell", *words, "--store", self.store, "-c", conf
            )
            child = start("reference", program, log=self.directory / "reference.log")
            try:
                child.wait_for_line("ready ", deadline_s=DEADLINE_S)
                yield Address("127.0.0.1", ports.broker)
            except ProcessError:
                code, lines = child.exit_code, child.output().splitlines()
                raise ProcessError(f"reference: {_ended(code, lines)}") from None
            finally:
                child.terminate()

    @contextmanager
    def _apache(self, settings: bytes) -> Iterator[Address]:
        assert self.release is not None
        folder = Path(tempfile.mkdtemp(dir=self.directory))
        with closing(
            ApacheCluster(self.release, directory=folder, store=self.store)
        ) as cluster:
            with (folder / "conf" / "broker.conf").open("ab") as conf:
                conf.write(b"\n" + settings + b"\n")
            try:
                cluster.start_broker_alone(deadline_s=DEADLINE_S)
            except ProcessError as error:
                reason = str(error).partition("; log")[0]
                code = reason.partition("ended with ")[2].partition(" ")[0]
                lines = cluster.broker_log.read_text(errors="replace").splitlines()
                raise ProcessError(
                    f"apache: {_ended(int(code), lines) if code else reason}"
                ) from None
            yield cluster.broker
            cluster.stop()


def _ended(code: int | None, lines: Sequence[str]) -> str:
    counted = f"{len(lines)} line{'s' * (len(lines) != 1)}"
    return f"ends with {code}, {counted}: {lines[-1] if lines else '(none)'}"


def _served(broker: Address) -> str:
    """Send a message to *broker*; return whether it was stored."""
    try:
        with Client.connect(broker) as client:
            require_success(client.send_message(topic=TOPIC))
    except (PeerError, OSError) as error:
        return f"starts, does not store: {str(error).splitlines()[0]}"
    return SERVES


def results(case: Case, release: str) -> dict[str, str]:
    """Return the name of *case* and what each broker does."""
    found = {"case": case.name}
    for who, other in (("reference", None), ("apache", release)):
        with tempfile.TemporaryDirectory(prefix="bench-starts-") as folder:
            broker = Broker(other, Path(folder))
            found[who] = _with_store(broker, case)
    return found


def _with_store(broker: Broker, case: Case) -> str:
    """Let *broker* write a store, make the change of *case*, and start on it."""
    if not case.fills_disk:
        return _after_a_stop(broker, case, None)
    with mount(broker.store) as disk:
        return _after_a_stop(broker, case, disk)


def _after_a_stop(broker: Broker, case: Case, disk: SmallDisk | None) -> str:
    first = broker.tried(b"")
    if first != SERVES:
        raise ProcessError(f"without the case's change it {first}")
    case.change(broker.store)
    if disk is not None:
        disk.fill()
    return broker.tried(case.settings)


def main(words: Sequence[str] | None = None) -> int:
    """Try every case on both brokers; return an exit code."""
    parser = argparse.ArgumentParser(prog="bench.longrun.starts", description=__doc__)
    parser.add_argument("--against", metavar="RELEASE", default=RELEASE)
    release = parser.parse_args(words).against
    check_release(release)
    ends = []
    for case in CASES:
        found = results(case, release)
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        ends.append(found["reference"])
    is_good = all(
        end == SERVES or end.startswith("ends with 2, 1 lines") for end in ends
    )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())

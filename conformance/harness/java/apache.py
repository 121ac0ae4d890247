"""
A real Apache RocketMQ on this machine: one name server and one broker of a release.

The jars come from ``jars.py``, Java from ``runtime.py``, the settings from
``apache_conf.py``; both processes die with the run. A broker in controller mode has its
controller inside the name server (``controller.py``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory
from typing import Self

from conformance.harness.client.access import ANY_CERTIFICATE, client_context
from conformance.harness.client.address import LOOPBACK, Address
from conformance.harness.java import cluster_info
from conformance.harness.java.apache_conf import (
    CONTROLLER,
    ENFORCING,
    GUEST_SETTINGS,
    JAVA_PROPERTIES,
    TLS_MODE,
    both_spellings,
    controller_settings,
    needs_controller,
    write_logging,
    write_properties,
)
from conformance.harness.java.jars import resolve
from conformance.harness.java.runtime import FAST_START
from conformance.harness.java.warm_up import archive_options, warm_up
from conformance.harness.process.context import Closing
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.process.ports import PortBlock, free_port_block
from conformance.harness.process.process import Child, ProcessError, accepts, start
from java_runtime.class_archive import listing_options, write_archive
from java_runtime.find_java import find_java

PROGRAMS = {
    "namesrv": "org.apache.rocketmq.namesrv.NamesrvStartup",
    "broker": "org.apache.rocketmq.broker.BrokerStartup",
}
READY_DEADLINE_S = 90.0
"""Time until a program serves, on a machine that is busy with other tests."""

TIMER_SLACK_S = 0.01
"""Timer slack of servers that only tests use. A broker of 4.6.0 wakes 1,100 times a
second, mostly for ReputMessageService. With this slack, an idle one takes 2.4 % of a
core instead of 4.8 %."""
HEAP_OPTIONS = ("-Xms64m", "-Xmx512m", "-XX:MaxDirectMemorySize=512m")


def modules(release: str) -> list[str]:
    """Return the coordinates of what a release is made of."""
    names = ("namesrv", "broker", "tools", "client")
    return [f"org.apache.rocketmq:rocketmq-{name}:{release}" for name in names]


def class_path(release: str) -> str:
    """Return the class path of a release: servers, tools and client."""
    return os.pathsep.join(str(jar) for jar in resolve(modules(release)))


class ApacheCluster(Closing):
    """One name server and one broker of a real release."""

    def __init__(
        self,
        release: str,
        *,
        directory: Path,
        conf: Mapping[str, str] | None = None,
        store: Path | None = None,
        java_options: Sequence[str] = FAST_START,
        name_servers: Sequence[Address] = (),
        starts_often: bool = False,
    ) -> None:
        """
        Prepare a cluster below *directory*; `start` runs it.

        *conf* are broker settings; *store* is an existing store directory to open.
        With *name_servers* of others the broker registers with those, and there is
        no name server of its own. Where many are going to be started, *starts_often*
        lets Java archive the classes of the release (`archive_options`), and idle
        servers wake up less often (`TIMER_SLACK_S`).
        """
        self.release = release
        self._starts_often = starts_often
        self.directory = directory.resolve()
        self.store_path = (store or self.directory / "store").resolve()
        self._ports = free_port_block()
        own = Address(LOOPBACK, self._ports.name_server)
        self._has_own_name_server = not name_servers
        self._name_servers = tuple(name_servers) or (own,)
        self.namesrv = self._name_servers[0]
        self.broker = Address(LOOPBACK, self._ports.broker)
        self._java_options = list(java_options)
        self._children: list[Child] = []
        self._starts = 0
        settings = {**both_spellings(GUEST_SETTINGS), **both_spellings(conf or {})}
        self._announced = Address(settings["brokerIP1"], self._ports.broker)
        self._java_properties = [
            f"-D{key}={value}"
            for key, value in settings.items()
            if key.startswith(JAVA_PROPERTIES)
        ]
        is_enforcing = settings.get(TLS_MODE) == ENFORCING
        self._tls = client_context(ANY_CERTIFICATE) if is_enforcing else None
        self._controller_ports: PortBlock | None = None
        self.controller: Address | None = None
        if needs_controller(settings):
            self._controller_ports = free_port_block()
            self.controller = Address(LOOPBACK, self._controller_ports.name_server)
            settings[CONTROLLER] = str(self.controller)
        self._write_files(settings)

    def end_report(self) -> str:
        """Return exit status and last output of the programs that have ended."""
        return "\n".join(filter(None, (child.end_report() for child in self._children)))

    def __enter__(self) -> Self:
        self.start()
        return self

    def start(self, *, broker: bool = True) -> None:
        """
        Start both programs and return when the broker is routed to and accepts.

        Without *broker* it is the name server alone.
        """
        with self._starting():
            if self._has_own_name_server:
                self.kill()
                self._launch("namesrv")
            if broker:
                self._wait_until_forgotten()
                self._launch("broker", registers=True)

    def start_broker_alone(self, *, deadline_s: float = READY_DEADLINE_S) -> None:
        """Start the broker without registration, and return when it accepts."""
        self._has_own_name_server = False
        with self._starting():
            self._launch("broker", deadline_s=deadline_s)

    def stop(self) -> None:
        """
        Stop the broker in order, as an operator would (SIGTERM), then the rest.

        The name server has nothing left to save: its own three seconds are spared.
        """
        while len(self._children) > int(self._has_own_name_server):
            self._children.pop().terminate(grace_s=READY_DEADLINE_S)
        self.kill()

    def kill(self) -> None:
        """Kill both programs with SIGKILL: a power cut.

        A controller in the name server must not elect after the broker's end.
        """
        while self._children:
            self._children.pop(0).kill()

    def restart(self) -> None:
        """Stop what still runs and start on the same ports and store."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Kill what runs and give the ports back; the directory stays."""
        self.kill()
        self._ports.release()
        if self._controller_ports is not None:
            self._controller_ports.release()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes that run: the name server's first, then the broker's."""
        return tuple(child.pid for child in self._children)

    @property
    def values_path(self) -> Path:
        """File of the name server's KV configuration; it exists after the first put."""
        return self.directory / "namesrv" / "kvConfig.json"

    @property
    def broker_log(self) -> Path:
        """Output of the latest broker."""
        return self.directory / f"broker-{self._starts}.log"

    def _wait_until_forgotten(self) -> None:
        """Wait until no name server answers any more for an earlier broker of ours."""
        try:
            wait_until(
                lambda: not any(map(self._is_known_to, self._name_servers)),
                what=f"the end of the last broker on {self.broker} is detected",
                timeout_s=READY_DEADLINE_S,
            )
        except TooLateError as error:
            raise ProcessError(str(error)) from None

    @contextmanager
    def _starting(self) -> Iterator[None]:
        """Count a start; kill what there is of it when it fails."""
        self._starts += 1
        try:
            yield
        except BaseException:
            self.kill()
            raise

    def _launch(
        self,
        what: str,
        *options: str,
        registers: bool = False,
        deadline_s: float = READY_DEADLINE_S,
    ) -> None:
        """
        Run one of the programs, and return when it accepts.

        One that *registers* must be known to its name servers, too.
        """
        address = self.namesrv if what == "namesrv" else self.broker
        knowing = self._name_servers if registers else ()
        child = self._run(what, *options)
        self._children.append(child)
        child.wait_until(
            lambda: accepts(*address) and all(map(self._is_known_to, knowing)),
            what=f"{what} {self.release} on {address}{', registered' * registers}",
            deadline_s=deadline_s,
        )

    def _is_known_to(self, name_server: Address) -> bool:
        known = cluster_info.broker_addresses(name_server, self._tls)
        return str(self._announced) in known

    def _run(self, what: str, *options: str) -> Child:
        java = [str(find_java()), *self._java_options, *HEAP_OPTIONS]
        classes = ["-cp", class_path(self.release)]
        runs = [*classes, PROGRAMS[what]]
        if self._starts_often:
            write = partial(self._write_archive, what, [*java, *classes])
            options = archive_options([*java, *runs], write)
        return start(
            f"{what} {self.release}",
            [
                *(*java, *options),
                *self._java_properties,
                f"-Drocketmq.home.dir={self.directory}",
                # Logs and the name server's files go below the user's home directory.
                f"-Duser.home={self.directory}",
                f"-Djava.io.tmpdir={self.directory / 'tmp'}",
                *runs,
                *("-c", str(self.directory / "conf" / f"{what}.conf")),
            ],
            log=self.directory / f"{what}-{self._starts}.log",
            # The broker would read these from the environment of the test run.
            environment={"NAMESRV_ADDR": str(self.namesrv)},
            timer_slack_s=TIMER_SLACK_S if self._starts_often else 0.0,
        )

    def _write_archive(self, what: str, java: Sequence[str], draft: Path) -> None:
        """Write the classes of one of the programs to *draft*; they come from *java*.

        Both programs run from start to orderly end, one of them with a list of its
        classes. An archive is optional: an error here must not fail the start.
        """
        with (
            TemporaryDirectory(prefix="rocketmq-conformance-warm-up-") as home,
            suppress(ProcessError, OSError, AssertionError, CalledProcessError),
        ):
            class_list = Path(home) / "classes"
            other = ApacheCluster(
                self.release, directory=Path(home), java_options=self._java_options
            )
            with closing(other):
                for name in PROGRAMS:
                    listing = listing_options(class_list) if name == what else ()
                    other._launch(name, *listing)
                warm_up(other.namesrv, other.broker)
                for child in reversed(other._children):
                    child.terminate(grace_s=READY_DEADLINE_S)
            write_archive(java, class_list, draft)

    def _write_files(self, conf: Mapping[str, str]) -> None:
        conf_directory = self.directory / "conf"
        (self.directory / "tmp").mkdir(exist_ok=True)
        write_logging(self.directory)
        name_server = {
            "listenPort": str(self.namesrv.port),
            "bindAddress": LOOPBACK,
            "kvConfigPath": str(self.values_path),
        }
        if self.controller is not None:
            folder = self.directory / "controller"
            name_server |= controller_settings(self.controller, folder)
        broker = {
            **{k: v for k, v in conf.items() if not k.startswith(JAVA_PROPERTIES)},
            # A test's own name servers come after the cluster's.
            "namesrvAddr": ";".join(
                filter(None, (*map(str, self._name_servers), conf.get("namesrvAddr")))
            ),
            "listenPort": str(self.broker.port),
            "haListenPort": str(self._ports.ha),
            "storePathRootDir": str(self.store_path),
            "storePathCommitLog": str(self.store_path / "commitlog"),
        }
        write_properties(conf_directory / "namesrv.conf", name_server)
        write_properties(conf_directory / "broker.conf", broker)

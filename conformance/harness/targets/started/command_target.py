"""
Target of any implementation, started by the commands that a target file declares.

Each program is a child process with its own ports, store and settings, so that several
targets can run concurrently where the file allows it.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from conformance.harness.client.address import LOOPBACK, Address
from conformance.harness.java.apache_conf import spelled_as
from conformance.harness.process.deadline import comes_true
from conformance.harness.process.ports import PortBlock, free_port_block
from conformance.harness.process.process import (
    Child,
    accepts,
    require_program,
    start,
)
from conformance.harness.targets.health import is_silent
from conformance.harness.targets.started.started_target import StartedTarget
from conformance.harness.targets.started.target_file import (
    Program,
    fill,
    read_target_file,
)
from conformance.harness.targets.target import TargetError

NAME_SERVERS = "namesrvAddr"
"""Setting of a broker: the addresses of its name servers."""
REGISTERED_S = 5.0
"""Time in which the registered address of a broker must have a listener."""


class CommandTarget(StartedTarget):
    """Foreign peer that is started from here."""

    is_foreign = True
    may_state = ("broker",)
    usual_broker = usual_cluster = ""
    _admin_ports: PortBlock | None = None
    """Ports of the broker behind a proxy."""

    def _configure(self) -> None:
        """Read the target file."""
        self.file = read_target_file(Path(self.rest).expanduser())
        self._more_name_servers = self.conf.get(NAME_SERVERS, "")
        self.conf = {**self.file.settings, **self.conf}
        self.release = self.file.release
        self.capabilities = self.file.capabilities
        self.refuses = self.file.refuses
        self.is_only_one = self.file.ports is not None
        self._children: list[tuple[Child, Program]] = []

    def _start(self) -> None:
        self._prepare()
        assert self.namesrv is not None
        assert self.broker is not None
        if self.file.name_server is not None:
            self._run("name server", self.file.name_server, self.namesrv)
        if self.file.admin is not None:
            assert self.admin is not None
            self._run("broker behind it", self.file.admin, self.admin)
        self._run("broker", self.file.broker, self.broker)
        self.broker = self.stated.get("broker", self.broker)

    @property
    def log(self) -> str:
        """Output of the running programs."""
        return "\n".join(child.output() for child, _ in self._children)

    def end_report(self) -> str:
        """Return exit status and last output of the programs that have ended."""
        return "\n".join(filter(None, (one.end_report() for one, _ in self._children)))

    def stop(self) -> None:
        """Terminate the programs, the broker first, and wait for their end."""
        while self._children:
            child, program = self._children.pop()
            number = signal.Signals[program.stop_signal]
            child.terminate(grace_s=program.stop_timeout_s, number=number)

    def kill(self) -> None:
        """Send the programs the signal that stands for a power cut."""
        for child, program in self._children:
            child.terminate(number=signal.Signals[program.kill_signal])
        self._children.clear()

    def _end(self) -> None:
        for child, _ in self._children:
            child.kill()
        self._children.clear()
        if self._admin_ports is not None:
            self._admin_ports.release()
            self._admin_ports = None

    def _prepare(self) -> None:
        """Choose ports and directories, the same for every start of this target."""
        self.store_path = self.store_path or self.directory / "store"
        if self.file.ports is not None:
            name_server, broker = self.file.ports
            taken = [port for port in self.file.ports if accepts(LOOPBACK, port)]
            if taken:
                raise TargetError(f"another process listens on {LOOPBACK}:{taken[0]}")
        else:
            name_server, broker = self.ports.name_server, self.ports.broker
        self.namesrv = Address(LOOPBACK, name_server)
        self.broker = Address(LOOPBACK, broker)
        if self.file.has_admin:
            self._admin_ports = self._admin_ports or free_port_block()
            self.admin = Address(LOOPBACK, self._admin_ports.broker)

    def _run(self, what: str, program: Program, address: Address) -> None:
        words = self._words()
        conf = spelled_as(self.release, self.conf)
        if self._more_name_servers:
            conf[NAME_SERVERS] = words["namesrv_addr"]
        lines = [f"{key}={fill(value, words)}\n" for key, value in conf.items()]
        Path(words["conf"]).write_text("".join(lines), encoding="utf-8")
        named = self.file.environment.items()
        directory = self.file.path.parent / fill(program.directory, words)
        command = [fill(word, words) for word in program.command]
        try:
            require_program(command[0], directory)
        except OSError:
            reason = f"{self.rest}: there is no program {command[0]}"
            raise TargetError(reason) from None
        child = start(
            f"{what} of {self.rest}",
            command,
            log=self.directory / f"{what.replace(' ', '-')}.log",
            environment={name: fill(value, words) for name, value in named},
            directory=directory,
        )
        self._children.append((child, program))
        patience_s = program.ready_timeout_s
        if program.ready_line:
            child.wait_for_line(program.ready_line, deadline_s=patience_s)
        else:
            child.wait_until(
                lambda: accepts(*address),
                what=f"listener on {address}",
                deadline_s=patience_s,
            )
            # A program may listen before it has read its store. Without this wait, a
            # test after a restart blames the clause about its first request. Of a
            # program that never responds, the tests fail with their transcripts.
            comes_true(
                lambda: not (child.running and is_silent(address, self.access.tls)),
                patience_s,
            )

    def _check_registered(self, address: Address | None) -> None:
        """Raise TargetError where nothing listens on the registered *address*.

        Tests connect to the port that they chose, but clients to the address in a
        route. A stated address takes the place of both. A program may register before
        it listens, so there is some time.
        """
        stated = self.stated.get("broker")
        wanted = stated or address
        if self.admin is None and wanted != address:
            self.registered = address
        if wanted is None or comes_true(lambda: accepts(*wanted), REGISTERED_S):
            return
        if stated:
            raise TargetError(f"no listener on {stated}, which ?broker= states")
        raise TargetError(
            f"no listener on {address}, which is the registered address of the broker;"
            f" it should be {self.admin or self.broker} (Apache's setting brokerIP1),"
            " or ?broker=HOST:PORT states another one"
        )

    def _words(self) -> dict[str, str]:
        """Return the values of the placeholders.

        A test's own name servers come after the one that is started here.
        """
        assert self.namesrv is not None
        assert self.broker is not None
        name_servers = filter(None, (str(self.namesrv), self._more_name_servers))
        return {
            "namesrv_port": str(self.namesrv.port),
            "namesrv_addr": ";".join(name_servers),
            "broker_port": str(self.broker.port),
            "vip_port": str(self.broker.port - 2),
            "ha_port": str(self.broker.port + 1),
            "admin_port": str(self.admin.port if self.admin else 0),
            "store": str(self.store_path),
            "conf": str(self.directory / "broker.conf"),
            "work": str(self.directory),
            "here": os.fspath(self.file.path.parent),
            "clock_rate": str(self.clock_rate),
            "python": sys.executable,
        }

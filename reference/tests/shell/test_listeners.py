"""A listener for TLS on a system without descriptors, and on a host with two addresses.

The limit of descriptors is set in a process of its own.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from reference.shell import listeners
from reference.shell.listeners import TlsListener, bind
from reference.shell.tls import ServerTls

ROOT = Path(__file__).parents[3]
WITHOUT_DESCRIPTORS = """
import asyncio, os, resource, socket, sys
from reference.shell import listeners
from reference.shell.tls import ServerTls

LIMITS = resource.getrlimit(resource.RLIMIT_NOFILE)

def allow(count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, LIMITS[1]))

class Output:
    def write(self, text):
        print(text, end="")
        allow(LIMITS[0])

class Served(asyncio.Protocol):
    def connection_made(self, transport):
        served.set_result(None)

async def main():
    global served
    served = asyncio.get_running_loop().create_future()
    (bound,) = await listeners.bind("127.0.0.1", 0)
    peer = socket.create_connection(bound.getsockname())
    peer.sendall(b"plain")
    allow(len(os.listdir("/proc/self/fd")) + 8)
    try:
        while True:
            os.dup(peer.fileno())
    except OSError:
        sys.stderr = Output()
    listener = listeners.TlsListener(bound, ServerTls({}), Served)
    await served
    listener.close()
    print("served")

listeners.ACCEPT_PAUSE_S = 0
asyncio.run(main())
"""
"""Program that takes every descriptor, and gives them back at the reported error."""


def test_accepting_goes_on_after_the_descriptors_ran_out() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DESCRIPTORS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    refused = "cannot accept a connection: [Errno 24] Too many open files"
    assert done.stdout.splitlines() == [refused, "served"], done.stderr


def test_a_host_name_is_listened_to_at_all_its_addresses() -> None:
    names = socket.getaddrinfo("localhost", 0, type=socket.SOCK_STREAM)
    sockets = asyncio.run(bind("localhost", 0))
    found = {bound.getsockname()[0] for bound in sockets}
    for bound in sockets:
        bound.close()
    assert found == {str(row[4][0]) for row in names}


def test_a_connection_that_sends_nothing_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listeners, "SILENCE_MAX_S", 0.05)

    async def run() -> bytes:
        (bound,) = await bind("127.0.0.1", 0)
        listener = TlsListener(bound, ServerTls({}), asyncio.Protocol)
        reader, writer = await asyncio.open_connection(*bound.getsockname())
        received = await reader.read()
        writer.close()
        listener.close()
        return received

    assert asyncio.run(run()) == b""

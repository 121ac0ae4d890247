"""A running cluster with IPv6 addresses: clauses about addresses are met."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.client.address import in_one_form
from conformance.harness.process.process import start
from conformance.harness.targets.started.embedded import SOURCES
from rocketmq_conformance.paths import module_command

SUITE = Path(__file__).parents[2] / "messaging"
LOOPBACK = "::1"
ABOUT_ADDRESSES = (
    "ADMIN-STATS-009",
    "GROUP-CONNECTION-001",
    "GROUP-CONNECTION-003",
    "GROUP-MEMBER-011",
    "SEND-BATCH-016",
    "SEND-HEADER-004",
    "SEND-REPLY-006",
    "WIRE-MESSAGEID-001",
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a name server, with a broker of an IPv6 address."""
    try:
        socket.create_server((LOOPBACK, 0), family=socket.AF_INET6).close()
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    home = tmp_path_factory.mktemp("ipv6")
    words = ["--host", LOOPBACK, "--namesrv-port", "0", "--broker-port", "0"]
    program = module_command(
        "reference.shell", *words, "--store", home / "store", sources=SOURCES
    )
    child = start("reference", program, log=home / "log", directory=SOURCES)
    ready = child.wait_for_line("ready ")
    yield in_one_form(ready.partition("namesrv=")[2].split()[0])
    child.terminate()


def test_clauses_about_addresses_are_met(cluster: str) -> None:
    names = "send/test_batch send/test_send send/test_send_header send/test_replies"
    names += " groups/test_members groups/test_client_ids"
    names += " admin/test_admin_statistics"
    files = [SUITE / f"{name}.py" for name in names.split()]
    ended = run_child(
        files, f"--target={cluster}", f"--only-clauses={','.join(ABOUT_ADDRESSES)}"
    )
    found = {clause: ended.outcomes[clause] for clause in ABOUT_ADDRESSES}
    assert found == dict.fromkeys(ABOUT_ADDRESSES, "pass")


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("/0:0:0:0:0:0:0:1:10911", "/[::1]:10911"),
        ("[0:0:0:0:0:0:0:1]:10911", "[::1]:10911"),
        ("::1:10911", "[::1]:10911"),
        ("/127.0.0.1:10911", "/127.0.0.1:10911"),
        ("None", "None"),
    ],
)
def test_an_address_has_one_form(written: str, form: str) -> None:
    assert in_one_form(written) == form

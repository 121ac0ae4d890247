"""A running cluster with users: the suite adds its own, and deletes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.client.access import Access, secret_credentials
from conformance.harness.client.client import body_of, require_success
from conformance.harness.targets.started.accounts import (
    Account,
    guarded_settings,
    plain_acl,
    write_plain_acl,
)
from conformance.harness.targets.started.started_target import StartedTarget
from conformance.harness.targets.target import parse_target
from conformance.meta.made_suite import run_made
from conformance.meta.peers.lying_cluster import lying_cluster
from spec.security.plain_acl import FILE
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

SUITES = Path(__file__).parents[2]
OPERATOR = secret_credentials("operator", "secret-of-the-operator")


READS_SETTINGS = """
@pytest.mark.clause("ADMIN-CONFIG-001")
def test_reads(broker):
    require_success(broker.broker_config())
"""


@pytest.fixture(scope="module")
def guarded() -> Iterator[StartedTarget]:
    """Yield a running broker that admits the operator by a plain_acl.yml."""
    target = parse_target("embedded:?aclEnable=true")
    assert isinstance(target, StartedTarget)
    write_plain_acl(target, plain_acl([Account(credentials=OPERATOR, admin=True)]))
    with target:
        yield target


def credentials_file(directory: Path, access_key: str) -> Path:
    """Return a new file with an access key and the secret of the operator."""
    file = directory / "tools.yml"
    lines = f"accessKey: {access_key}\nsecretKey: {OPERATOR.secret_key}\n"
    file.write_text(lines, encoding="utf-8")
    return file


def test_the_access_of_a_running_cluster_is_not_changed(
    guarded: StartedTarget, tmp_path: Path
) -> None:
    before = (guarded.home / FILE).read_text("utf-8")
    file = credentials_file(tmp_path, OPERATOR.access_key)
    tests = SUITES / "messaging" / "admin" / "test_admin_repairs.py"
    option = f"--target={guarded.namesrv}?credentials={file}"
    ended = run_child([tests], option, "-k", "test_access")
    assert (guarded.home / FILE).read_text("utf-8") == before
    reason = "it needs the settings aclEnable=false (true there)"
    assert [ended.reasons[f"ADMIN-ACL-00{one}"] for one in (1, 2)] == [reason] * 2


def test_requests_of_bytes_are_not_signed(
    guarded: StartedTarget, tmp_path: Path
) -> None:
    file = credentials_file(tmp_path, OPERATOR.access_key)
    tests = SUITES / "wire" / "test_command.py"
    ended = run_child([tests], f"--target={guarded.namesrv}?credentials={file}")
    assert "pass" in ended.outcomes.values()
    assert not {"fail", "error"}.intersection(ended.outcomes.values())


def test_a_user_without_rights_is_no_fault_of_the_broker(
    guarded: StartedTarget, tmp_path: Path
) -> None:
    file = credentials_file(tmp_path, "somebody")
    text = f"{guarded.namesrv}?credentials={file}"
    ended = run_made(tmp_path, text, READS_SETTINGS, has_baseline=True)
    assert ended.outcomes == {"ADMIN-CONFIG-001": "blocked"}
    assert ended.reasons["ADMIN-CONFIG-001"].startswith(
        "the target refuses access: org.apache.rocketmq.acl.common.AclException: "
    )
    assert ended.code == 3


@pytest.mark.parametrize(
    ("remark", "outcome"),
    [
        ("User:somebody is not found.", "blocked"),
        ("check signature failed.", "blocked"),
        (
            "User:a has no permission to access Cluster:c from 127.0.0.1, no matched"
            " policies.",
            "blocked",
        ),
        ("the broker[127.0.0.1] is not readable", "fail"),
    ],
)
def test_neither_is_one_without_policies(
    tmp_path: Path, remark: str, outcome: str
) -> None:
    with lying_cluster(code=ResponseCode.NO_PERMISSION, remark=remark) as cluster:
        text = str(cluster.address)
        ended = run_made(tmp_path, text, READS_SETTINGS, has_baseline=True)
    assert ended.outcomes["ADMIN-CONFIG-001"] == outcome
    assert set(ended.outcomes.values()) <= {outcome, "blocked"}
    assert ended.code == (1 if outcome == "fail" else 3)


@pytest.mark.slow
def test_users_are_added_to_a_running_cluster_and_deleted(tmp_path: Path) -> None:
    file = credentials_file(tmp_path, OPERATOR.access_key)
    with parse_target("jvm:5.3.3", conf=guarded_settings(OPERATOR)) as target:
        options = (f"--target={target.namesrv}?credentials={file}", "--may-configure")
        ended = run_child([SUITES / "security" / "test_users.py"], *options)
        names = "wire/test_command.py", "messaging/admin/test_admin.py"
        others = run_child([SUITES / name for name in names], *options)
        target.access = Access(credentials=OPERATOR)
        with target.connect_for_admin() as client:
            listed = client.invoke(RequestCode.AUTH_LIST_USER, {"filter": ""})
            users = body_of(require_success(listed))
    assert set(ended.outcomes.values()) == {"pass"}
    assert not {"fail", "error"}.intersection(others.outcomes.values())
    assert isinstance(users, list)
    assert [one["username"] for one in users] == [OPERATOR.access_key]

"""A running cluster with users: the suite adds its own, and deletes them."""

from __future__ import annotations

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
from spec.security.plain_acl import FILE
from spec.wire.remoting.request_code import RequestCode

SUITES = Path(__file__).parents[2]
OPERATOR = secret_credentials("operator", "secret-of-the-operator")


def test_the_access_of_a_running_cluster_is_not_changed() -> None:
    operator = Account(credentials=OPERATOR, admin=True)
    accounts = plain_acl([operator], white=["127.0.0.1"])
    target = parse_target("embedded:?aclEnable=true")
    assert isinstance(target, StartedTarget)
    write_plain_acl(target, accounts)
    with target:
        tests = SUITES / "messaging" / "admin" / "test_admin_repairs.py"
        ended = run_child([tests], f"--target={target.namesrv}", "-k", "test_access")
        kept = (target.home / FILE).read_text("utf-8")
    assert kept == accounts
    reason = "it needs the settings aclEnable=false (true there)"
    assert [ended.reasons[f"ADMIN-ACL-00{one}"] for one in (1, 2)] == [reason] * 2


@pytest.mark.slow
def test_users_are_added_to_a_running_cluster_and_deleted(tmp_path: Path) -> None:
    file = tmp_path / "tools.yml"
    lines = f"accessKey: {OPERATOR.access_key}\nsecretKey: {OPERATOR.secret_key}\n"
    file.write_text(lines, encoding="utf-8")
    with parse_target("jvm:5.3.3", conf=guarded_settings(OPERATOR)) as target:
        options = (f"--target={target.namesrv}?credentials={file}", "--may-configure")
        ended = run_child([SUITES / "security" / "test_users.py"], *options)
        of_bytes = run_child([SUITES / "wire" / "test_command.py"], *options)
        target.access = Access(credentials=OPERATOR)
        with target.connect_for_admin() as client:
            listed = client.invoke(RequestCode.AUTH_LIST_USER, {"filter": ""})
            users = body_of(require_success(listed))
    assert set(ended.outcomes.values()) == {"pass"}
    assert not {"fail", "error"}.intersection(of_bytes.outcomes.values())
    assert isinstance(users, list)
    assert [one["username"] for one in users] == [OPERATOR.access_key]

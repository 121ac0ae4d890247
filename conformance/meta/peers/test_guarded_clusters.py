"""A running cluster with users: the suite adds its own, and deletes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.client.access import Access, secret_credentials
from conformance.harness.client.client import body_of, require_success
from conformance.harness.targets.started.accounts import guarded_settings
from conformance.harness.targets.target import parse_target
from spec.wire.remoting.request_code import RequestCode

SUITES = Path(__file__).parents[2]
OPERATOR = secret_credentials("operator", "secret-of-the-operator")


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

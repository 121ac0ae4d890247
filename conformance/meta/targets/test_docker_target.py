"""Errors of the docker target without an engine, and with wrong options."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.docker.mounts import allow_all_users
from conformance.harness.targets.target import Capability, TargetError, parse_target


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("docker:", "needs the name of an image"),
        ("docker:a?docker.network=none", r"only docker.network=\w+\|\w+ and"),
        ("docker:a?docker.log=x", "there are only docker.network="),
    ],
)
def test_a_wrong_text_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(TargetError, match=message) as refused:
        parse_target(text)
    assert "\n" not in str(refused.value)


def test_the_tag_says_which_release_it_is() -> None:
    target = parse_target("docker:apache/rocketmq:4.9.7-alpine?brokerName=b")
    assert (target.release, target.conf) == ("4.9.7", {"brokerName": "b"})
    assert Capability.KILL in target.capabilities
    assert Capability.CLOCK not in target.capabilities


def test_where_no_engine_answers_that_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'none.sock'}")
    with pytest.raises(TargetError, match="no Docker engine answers: ") as refused:
        parse_target("docker:apache/rocketmq:4.6.0").__enter__()
    assert "\n" not in str(refused.value)


def test_a_store_is_opened_to_the_user_of_the_container(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir(mode=0o700)
    file = tmp_path / "commitlog" / "0"
    file.touch(mode=0o600)
    allow_all_users(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o666
    assert file.parent.stat().st_mode & 0o777 == 0o777

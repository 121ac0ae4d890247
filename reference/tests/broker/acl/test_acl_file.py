"""Changes of plain_acl.yml that are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reference.core.broker.acl.accounts import AclFileError
from reference.shell.acl_file import PlainAclFile


def test_a_change_that_leaves_time_and_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "plain_acl.yml"
    path.write_text("secretKey: old-secret")
    file, before = PlainAclFile(path), path.stat()
    assert file.changed_text() == "secretKey: old-secret"
    assert file.changed_text() is None
    path.write_text("secretKey: new-secret")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    wait_for_new_ctime(path, before.st_ctime_ns)
    assert file.changed_text() == "secretKey: new-secret"


def test_a_file_that_becomes_readable_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plain_acl.yml"
    path.write_text("accounts: []")
    file = PlainAclFile(path)

    def refuse() -> str:
        raise AclFileError("no permission")

    with monkeypatch.context() as refused:
        refused.setattr(file, "text", refuse)
        with pytest.raises(AclFileError):
            file.changed_text()
    wait_for_new_ctime(path, path.stat().st_ctime_ns)
    assert file.changed_text() == "accounts: []"


def wait_for_new_ctime(path: Path, before_ns: int) -> None:
    """Change the mode until the file system's clock has advanced."""
    while path.stat().st_ctime_ns == before_ns:
        path.chmod(0o600)

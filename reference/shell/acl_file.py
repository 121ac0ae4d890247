"""The file of accounts, ``conf/plain_acl.yml`` below the broker's home."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from reference.core.broker.acl.accounts import AclFileError
from reference.core.broker.broker_config import BrokerOptions
from reference.core.settings import SettingError
from spec.security.plain_acl import FILE

HOME_SETTING, HOME_VARIABLE = "rocketmqHome", "ROCKETMQ_HOME"


class PlainAclFile:
    """plain_acl.yml, with its state at the last read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read_at: tuple[int, ...] | None = None

    def changed_text(self) -> str | None:
        """Return the content if the file changed since the last call, else None."""
        try:
            found = self.path.stat()
            # A copy may have the former time and size, and a new mode a readable file.
            times = found.st_mtime_ns, found.st_ctime_ns
            state = *times, found.st_size, found.st_ino
            if state == self._read_at:
                return None
            self._read_at = state
            return self.text()
        except OSError as error:
            raise AclFileError(f"{self.path}: {error.strerror}") from None

    def text(self) -> str:
        """Return the content; raise AclFileError if it cannot be read."""
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no UTF-8"
            raise AclFileError(f"{self.path}: {reason}") from None

    def write(self, text: str) -> None:
        """Replace the content, whole or not at all; the file's mode stays."""
        beside = self.path.with_suffix(".tmp")
        try:
            beside.touch(mode=0o600)
            shutil.copymode(self.path, beside)
            beside.write_text(text, encoding="utf-8")
            beside.replace(self.path)
        except OSError as error:
            raise AclFileError(f"{self.path}: {error.strerror}") from None


def acl_file_of(
    options: BrokerOptions, environment: Mapping[str, str] = os.environ
) -> PlainAclFile | None:
    """Return the file that aclEnable makes a broker read; None without aclEnable."""
    if not options.acl_enable:
        return None
    home = options.rocketmq_home or environment.get(HOME_VARIABLE)
    if not home:
        raise SettingError(
            f"aclEnable=true needs {HOME_SETTING}, or {HOME_VARIABLE} in the "
            f"environment: its {FILE} has the accounts"
        )
    return PlainAclFile(Path(home) / FILE)

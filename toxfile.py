"""
One virtual environment for all tox environments with ``runner = shared``.

PySpark is 490 MB. A copy for each environment would cost gigabytes and minutes.

tox records the name of an environment in its folder. It rebuilds the folder for another
name. This runner records the same name for all. See docs/decisions/0002.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tox.plugin import impl
from tox.tox_env.info import Info
from tox.tox_env.python.virtual_env.runner import VirtualEnvRunner
from tox.tox_env.register import ToxEnvRegister


class _SharedInfo(Info):
    """Record of tox about the folder, with one name for all environments."""

    def compare(
        self, value: Any, section: str, sub_section: str | None = None
    ) -> AbstractContextManager[tuple[bool, Any]]:
        """Compare *value* with the record of any environment."""
        if section == "ToxEnv":
            value = {**value, "name": "shared"}
        return super().compare(value, section, sub_section)


class SharedRunner(VirtualEnvRunner):
    """Runner in one folder with the other environments of this runner."""

    @staticmethod
    def id() -> str:
        """Return the name that tox.ini uses for this runner."""
        return "shared"

    @property
    def cache(self) -> Info:
        """Return the record of tox about the shared folder."""
        return _SharedInfo(Path(self.env_dir))


@impl
def tox_register_tox_env(register: ToxEnvRegister) -> None:
    """Register the runner under its id."""
    register.add_run_env(SharedRunner)

"""
One virtual environment for all tox environments that say ``runner = shared``.

PySpark is 490 MB; installing it once for every environment would cost gigabytes
and minutes. tox rebuilds a folder that another environment's name is noted in;
this runner notes the same name for all. See docs/decisions/0002.
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
    """What tox remembers about the folder, with one name for all who use it."""

    def compare(
        self, value: Any, section: str, sub_section: str | None = None
    ) -> AbstractContextManager[tuple[bool, Any]]:
        """Compare *value* with what is noted, whichever environment noted it."""
        if section == "ToxEnv":
            value = {**value, "name": "shared"}
        return super().compare(value, section, sub_section)


class SharedRunner(VirtualEnvRunner):
    """Runs in one folder with the other environments of this runner."""

    @staticmethod
    def id() -> str:
        """Return the name that tox.ini uses for this runner."""
        return "shared"

    @property
    def cache(self) -> Info:
        """Return what tox remembers about the shared folder."""
        return _SharedInfo(Path(self.env_dir))


@impl
def tox_register_tox_env(register: ToxEnvRegister) -> None:
    """Make the runner known under its id."""
    register.add_run_env(SharedRunner)

"""
Persistence of a table: a failed write does not fail the request that changed it.

4.6.0 logs the error and responds with SUCCESS. It writes the table again after the next
change; here the write is also retried, so that a restart finds the table.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.store.mapped.files import FilesError

RETRY_MS = 1_000


class Persistence:
    """Writes one table to its file."""

    def __init__(
        self, write: Callable[[], None], log_error: Callable[[str], None]
    ) -> None:
        self._write = write
        self._log_error = log_error
        """Receives one line for the first of consecutive failures."""
        self._has_failed = False

    def persist(self) -> None:
        """Write the table; a failure is logged and retried.

        4.6.0 org.apache.rocketmq.namesrv.kvconfig.KVConfigManager#persist,
        org.apache.rocketmq.remoting.Configuration#persist and
        org.apache.rocketmq.common.ConfigManager#persist.
        """
        try:
            self._write()
        except FilesError as error:
            if not self._has_failed:
                self._log_error(f"not persisted, to be retried: {error}")
            self._has_failed = True
        else:
            self._has_failed = False

    def retry(self, now_ms: int) -> None:  # noqa: ARG002
        """Write the table if the last write failed. A timer calls this."""
        if self._has_failed:
            self.persist()

"""
Persistence of a table: a failed write does not fail the request that changed it.

4.6.0 logs the error and responds with SUCCESS. It writes the table again after the next
change; here the write is also retried, so that a restart finds the table.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.store.mapped.files import FilesError
from reference.core.unexpected import error_text

RETRY_MS = 1_000


class Persistence:
    """Writes one table to its file."""

    def __init__(
        self, write: Callable[[], None], log_error: Callable[[str], None]
    ) -> None:
        self._write = write
        self._log_error = log_error
        """Receives one line for the first of consecutive failures."""
        self._is_changed = False
        self._has_failed = False

    def mark_changed(self) -> None:
        """Have `persist_changes` write the table.

        One write for all changes of a read: a heartbeat may contain thousands of new
        groups, and a write takes 10 ms and more.
        """
        self._is_changed = True

    def persist_changes(self) -> None:
        """Write the table if it has changed; a failure is logged and retried.

        4.6.0 org.apache.rocketmq.namesrv.kvconfig.KVConfigManager#persist,
        org.apache.rocketmq.remoting.Configuration#persist and
        org.apache.rocketmq.common.ConfigManager#persist.
        """
        if self._is_changed:
            self._is_changed = False
            self._persist()

    def retry(self, now_ms: int) -> None:  # noqa: ARG002
        """Write the table if the last write failed. A timer calls this."""
        if self._has_failed:
            self._persist()

    def _persist(self) -> None:
        try:
            self._write()
        except Exception as error:  # the responses after it must still be sent
            if not self._has_failed:
                known = isinstance(error, FilesError)
                text = str(error) if known else error_text(error)
                self._log_error(f"not persisted, to be retried: {text}")
            self._has_failed = True
        else:
            self._has_failed = False

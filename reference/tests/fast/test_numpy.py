"""A start on a small store does not wait for numpy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
from reference.core.store.message_store import MessageStore
from reference.core.store.types import NewMessage, StoreOptions
from reference.fast.recovery import bulk_scan
from reference.shell.storage.disk import DiskFiles

for _ in range(2):
    files = DiskFiles(sys.argv[1])
    store = MessageStore(files, StoreOptions(), 1, bulk_scan=bulk_scan)
    store.append([NewMessage("T", 0, b"")], 1)
    store.stop()
assert "numpy" not in sys.modules
"""


def test_a_small_store_is_recovered_without_numpy(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], check=True)

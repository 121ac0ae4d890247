"""Index files that a start after a crash writes again."""

from __future__ import annotations

import pytest

from reference.core.recovery_forecast.forecast import forecast
from reference.core.store.recovery.rules import rules_of
from reference.tests.memory_files import MemoryFiles
from reference.tests.start.damaged_stores import MemoryView
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    append_one,
    message,
    started,
)
from spec.store.file_names import ABORT, INDEX


@pytest.mark.parametrize(("release", "items"), [("5.3.3", 2), ("5.4.0", 3)])
def test_a_tag_has_an_index_item_since_5_4(release: str, items: int) -> None:
    """A file of TINY has seven items. INDEX-KEY-005."""
    files = MemoryFiles()
    store = started(files)
    tagged = message(properties="UNIQ_KEY\x01u\x02TAGS\x01t\x02KEYS\x01k\x02")
    for _ in range(6):
        append_one(store, tagged, NOON_MS)
    store.dispatch()
    store.stop()
    for name in files.names(INDEX):
        files.delete(f"{INDEX}/{name}")
    files.replace_text(ABORT, "")
    found = forecast(MemoryView(files), rules_of(release), TINY)
    assert found.after_crash
    per_file = TINY.index_item_count - 1
    assert found.index.files == -(-6 * items // per_file)

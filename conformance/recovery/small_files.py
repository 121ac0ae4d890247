"""Settings with which two hundred messages make several files of each kind."""

from __future__ import annotations

from collections.abc import Mapping

LOG_FILE_SIZE = 64 * 1024
UNITS_PER_FILE = 50
SLOT_COUNT = 50
ITEM_ROOM = 101

SMALL_FILES: Mapping[str, str] = {
    "mapedFileSizeCommitLog": str(LOG_FILE_SIZE),
    "mapedFileSizeConsumeQueue": str(20 * UNITS_PER_FILE),
    "maxHashSlotNum": str(SLOT_COUNT),
    "maxIndexNum": str(ITEM_ROOM),
}
"""Broker settings of the stores that are killed and damaged."""
INDEXED_PER_FILE = (ITEM_ROOM - 1) // 2
"""Messages with a unique key and a key that fit into an index file: item 0 is never
used. 5.x gives a unique key to who has none, so all have one."""

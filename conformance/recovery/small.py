"""Settings with which two hundred messages make several files of each kind."""

from __future__ import annotations

from collections.abc import Mapping

LOG_FILE_SIZE = 64 * 1024
UNITS_PER_FILE = 50
SLOT_COUNT = 50
ITEM_ROOM = 100

SMALL_FILES: Mapping[str, str] = {
    "mapedFileSizeCommitLog": str(LOG_FILE_SIZE),
    "mapedFileSizeConsumeQueue": str(20 * UNITS_PER_FILE),
    "maxHashSlotNum": str(SLOT_COUNT),
    "maxIndexNum": str(ITEM_ROOM),
}
"""Broker settings of the stores that are killed and damaged."""
INDEXED_PER_FILE = ITEM_ROOM - 1
"""Messages with one key that fit into an index file: item 0 is never used."""

"""
Spark data source ``rocketmq.keys``: one row per key of every record of a log.

An audit reads it only where the survey's sums of keys and index items differ. Damaged
regions are skipped, because ``rocketmq.commitlog`` reports them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from columns.gather import Ints
from columns.key_hashes import KEY_NAMES, KeyHashes, key_hashes
from columns.numbers.long_hashes import hash_of_longs
from columns.record_properties import properties_of
from columns.scan.log_file import LogRange, ReadAt
from columns.scan.log_ranges import LogSections, Ranges, Sums, add_sums, within
from columns.scan.record_scan import Region, scan_range
from columns.topics import topics_of
from spark_checks.readers.commit_log import LogSource
from spark_checks.readers.schemas import arrow_schema, as_batch

_key_schema = arrow_schema("rocketmq.keys")


class KeySource(LogSource):
    """Reads the keys of records.

    Options: ``url``, ``files``, ``ranges`` and ``parts`` (JSON).
    """

    source_name = "rocketmq.keys"

    def batches_in(self, read_at: ReadAt, part: LogRange) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one range."""
        return key_batches(read_at, part, self.option("ranges"))


def key_batches(
    read_at: ReadAt, where: LogRange, ranges: Ranges
) -> Iterator[pa.RecordBatch]:
    """Yield the keys of the records in *where* that the index must contain."""
    for batch in scan_range(read_at, where):
        if isinstance(batch, Region):
            continue
        data, found = batch.data, batch.fields
        begins, sizes = found.places["properties"]
        split = properties_of(data, begins, begins + sizes, KEY_NAMES)
        keys = key_hashes(found, topics_of(data, found), split)
        offsets = batch.offsets[keys.record]
        wanted = within(offsets, ranges)
        columns = {
            "file_base": where.base,
            "offset": offsets[wanted],
            "key_hash": keys.code[wanted],
            "is_tag": keys.is_tag[wanted],
        }
        yield as_batch(_key_schema, int(wanted.sum()), columns)


def sums_of_keys(
    keys: KeyHashes, offsets: Ints, ranges: Ranges, sections: LogSections
) -> tuple[Sums, Sums]:
    """Return the sums of the keys of records at *offsets* within *ranges*.

    The second sums are those of tags.
    """
    hashes = hash_of_longs(offsets, keys.code)
    hashes[~within(offsets, ranges)] = 0
    whole = sections.sums(offsets, hashes)
    of_tags = sections.sums(offsets[keys.is_tag], hashes[keys.is_tag])
    return add_sums(whole, of_tags), of_tags

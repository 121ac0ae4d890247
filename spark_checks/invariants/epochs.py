"""Invariants of the file of epochs, which a broker in controller mode has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from spark_checks.findings import Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.store_files import Store, read_whole
from spark_checks.survey.summary import SurveySummary
from spec.store.epoch_file import (
    EPOCH_FILE,
    SIZE_MAX,
    Epoch,
    EpochFileError,
    decode_epochs,
)


def check_epochs(store: Store, summary: SurveySummary) -> Iterator[Finding]:
    """Yield the findings in the file of epochs of *store*."""
    file = store.file(EPOCH_FILE)
    if file is None:
        return
    data = read_whole(store.url, file, size_max=SIZE_MAX)

    def finding(name: str, epoch: Epoch | None = None, **values: object) -> Finding:
        """Return a finding at the line of *epoch*, or in the whole file."""
        place = 0, len(data)
        if epoch is not None:
            line = f"{epoch.number}-{epoch.begin}".encode()
            at = (data + b"\n").rfind(b"\n%s\n" % line) + 1
            place = at, len(line)
        return file_finding(name, EPOCH_FILE, place, **values)

    try:
        epochs = decode_epochs(data)
    except EpochFileError as error:
        yield finding("INV-EPOCH-001", found=error.reason)
        return
    if not epochs:
        yield finding("INV-EPOCH-001", found="no epoch")
    for before, one in pairwise(epochs):
        if before.number >= one.number or before.begin >= one.begin:
            both = [f"{epoch.number}-{epoch.begin}" for epoch in (one, before)]
            yield finding("INV-EPOCH-001", one, found=" behind ".join(both))
    if epochs and summary.record_count and epochs[-1].begin > summary.log_end:
        values = {"end": summary.log_end, "found": epochs[-1].begin}
        yield finding("INV-EPOCH-002", epochs[-1], **values)

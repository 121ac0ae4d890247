"""The checksum of a whole record, of a target configured to store it."""

from __future__ import annotations

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.pytest_plugin.expectations import expect
from conformance.store.files.special import Special
from spec.store.message_record import encode_record
from spec.store.record_checksum import agrees

pytestmark = pytest.mark.long


@pytest.mark.clause("STORE-RECORD-021", "STORE-RECORD-022")
def test_a_record_ends_with_the_checksum_of_all_before(special: Special) -> None:
    found = {
        offset: agrees(encode_record(record))
        for offset, record in special.log().items()
    }
    if set(found.values()) <= {None}:
        unsupported("the broker was not started with enabledAppendPropCRC=true")
    expect(
        "STORE-RECORD-021",
        found={offset: one for offset, one in found.items() if not one},
        expected={},
        what="records that do not agree with the checksum at their end, or have none",
    )

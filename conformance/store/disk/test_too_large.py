"""A message for which every file of the commit log is too small."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from spec.clause import release_key
from spec.store.message_record import decode_record

FILE_SIZE = 64 * 1024


@pytest.mark.clause("STORE-PUT-011")
@pytest.mark.needs("store", "wire", "config", "restart")
def test_what_fits_in_no_file_is_nowhere(start_target: TargetStarter) -> None:
    target = start_target({"mapedFileSizeCommitLog": str(FILE_SIZE)})
    topic = create_topic(target, unique_name("large"))
    with target.connect_to_broker() as broker:
        for body in (b"before", bytes(FILE_SIZE)):
            broker.send_message(topic=topic, body=body)
        response = require_success(broker.send_message(topic=topic, body=b"after"))
        viewed = require_success(broker.view_message_by_id(response.fields["msgId"]))
    record = decode_record(viewed.body)
    # From 5.0 to 5.1.0 a broker counts the message before it appends it.
    counts_it = (5,) <= release_key(target.release) < (5, 1, 1)
    expect(
        "STORE-PUT-011",
        found=(record.body, response.fields["queueOffset"]),
        expected=(b"after", "2" if counts_it else "1"),
        what=(
            f"body and queueOffset of the message after one of {FILE_SIZE} bytes, "
            f"with files of {FILE_SIZE} bytes (mapedFileSizeCommitLog)"
        ),
        transcript=broker.transcript,
    )

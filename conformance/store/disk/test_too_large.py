"""A message for which every file of the commit log is too small."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect_fields
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    create_topic,
    unique_name,
)
from spec.store.message_record import decode_record

FILE_SIZE = 64 * 1024


@pytest.mark.clause("STORE-PUT-011")
@pytest.mark.needs("wire", "config", "restart")
def test_what_fits_in_no_file_is_nowhere(start_target: TargetStarter) -> None:
    target = start_target({"mapedFileSizeCommitLog": str(FILE_SIZE)})
    topic = create_topic(target, unique_name("large"))
    with target.connect_to_broker() as broker:
        for body in (b"before", bytes(FILE_SIZE)):
            broker.send_message(topic=topic, body=body)
        answer = require_success(broker.send_message(topic=topic, body=b"after"))
        viewed = require_success(broker.view_message_by_id(answer.fields["msgId"]))
    record = decode_record(viewed.body)
    expect_fields(
        "STORE-PUT-011",
        found={"body": record.body, "queueOffset": answer.fields["queueOffset"]},
        expected={"body": b"after", "queueOffset": "1"},
    )

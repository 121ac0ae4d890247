"""
A store with a record that only releases since 5.0 can read: one of a long topic.

Retry topics may have more than 127 characters there, if their group's name is long. The
record has another magic then, and an older broker takes it for the end of the log.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from conformance.harness.client.client import require_success
from conformance.harness.targets.target import parse_target
from conformance.interop.handover.handover import (
    READER_SETTINGS,
    WRITER_SETTINGS,
    client_of,
    target_text,
)
from conformance.interop.handover.pending import placed
from spec.wire.message.message_id import decode_message_id

TOPIC = "HandoverLong"
GROUP = "handover_".ljust(127, "g")
BODIES = ("before", "after", "at last")
PATIENCE_S = 60.0


def write_long(writer: str, store: Path) -> None:
    """Let *writer* store a message, one of a long topic, and two more."""
    first, *rest = BODIES
    with parse_target(target_text(writer), conf=WRITER_SETTINGS, store=store) as target:
        with client_of(target) as broker:
            require_success(broker.create_topic(topic=TOPIC, queue_count=1))
            require_success(broker.update_group(group=GROUP))
            sent = require_success(
                broker.send_message(topic=TOPIC, body=first.encode())
            )
            broker.wait_for_max_offset(topic=TOPIC, offset=1, timeout_s=PATIENCE_S)
            _, offset = decode_message_id(sent.fields["msgId"])
            back = broker.send_back(
                group=GROUP,
                commit_log_offset=offset,
                delay_level=1,
                origin_topic=TOPIC,
                max_reconsume_times=16,
            )
            require_success(back)
            retry = f"%RETRY%{GROUP}"
            broker.wait_for_max_offset(topic=retry, offset=1, timeout_s=PATIENCE_S)
            for body in rest:
                require_success(broker.send_message(topic=TOPIC, body=body.encode()))
            broker.wait_for_max_offset(
                topic=TOPIC, offset=len(BODIES), timeout_s=PATIENCE_S
            )
        target.stop()


def read_long(reader: str, store: Path, copy: Path) -> list[str]:
    """Return the messages that *reader* has of a copy of the store."""
    shutil.copytree(store, copy)
    with (
        parse_target(target_text(reader), conf=READER_SETTINGS, store=copy) as target,
        client_of(target) as broker,
    ):
        return [body for body, _ in placed(broker, TOPIC)]

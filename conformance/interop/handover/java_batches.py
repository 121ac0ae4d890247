"""
Store of a real broker with batches of its release's Java producer.

A Java producer gives each message of a batch a unique key, and since 5.0 the batch one
as well. The broker appends the properties of the batch to those of each message, so
that UNIQ_KEY is there twice (5.3.3 store.MessageExtEncoder#encode).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from conformance.harness.client.client import Client, require_success
from conformance.harness.targets.target import parse_target
from conformance.interop.handover.handover import SETTINGS, client_of, target_text
from conformance.interop.programs.run import adapter_command
from conformance.interop.programs.session import ClientSession, encoded, open_session

TOPIC = "JavaBatches"
BATCHES, BATCH_SIZE = 12, 4
MESSAGES = BATCHES * (BATCH_SIZE + 1)
"""Messages of the batches, and one ordinary message after each batch."""
PATIENCE_S = 60.0
CONF = {**SETTINGS, "timerWheelEnable": "false"}
"""Small files. Without the timer 5.x keeps no log of 100 MB."""


def leave_batches(release: str, directory: Path) -> tuple[Path, Path]:
    """Write a store below *directory*; return its stopped and its killed state."""
    store, stopped = directory / "store", directory / "stopped"
    for count in (1, 2):
        with parse_target(target_text(release), conf=CONF, store=store) as target:
            with (
                client_of(target) as broker,
                open_session(target, adapter_command(f"Java {release}")) as session,
            ):
                if count == 1:
                    require_success(broker.create_topic(topic=TOPIC, queue_count=1))
                _send(session)
                _wait(broker, count * MESSAGES)
            if count == 1:
                target.stop()
                shutil.copytree(store, stopped)
            else:
                target.kill()
    return stopped, store


def _send(session: ClientSession) -> None:
    producer = session.producer()
    for number in range(BATCHES):
        batch = [_message(f"{number}-{one}") for one in range(BATCH_SIZE)]
        sent = session.call("send", producer=producer, mode="sync", messages=batch)
        assert sent["status"] == "SEND_OK", sent
        session.send(producer, TOPIC, f"single {number}", tags="Single")
    session.close()


def _message(name: str) -> dict[str, Any]:
    body = f"message {name} of a batch "
    return {
        "topic": TOPIC,
        "body": encoded(body * 8),
        "tags": f"Täg{name[-1]}",
        "keys": f"key-{name} batch",
        "properties": {"own": name},
    }


def _wait(broker: Client, end: int) -> None:
    broker.wait_for_max_offset(topic=TOPIC, offset=end, timeout_s=PATIENCE_S)

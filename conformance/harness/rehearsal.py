"""
What a program does before Java keeps its classes: a little of everything that is usual.

Java keeps only what was loaded by then. A broker that was started and stopped has read
half of the classes that the first message, pull and look-up want.
"""

from __future__ import annotations

from contextlib import closing

from conformance.harness.address import Address
from conformance.harness.speaker import Speaker, succeeded

TOPIC, GROUP, KEY = "Rehearsal", "rehearsal", "key"


def rehearse(name_server: Address, broker: Address) -> None:
    """Let a message come in and go out, and be asked about."""
    with closing(Speaker.connect(broker)) as speaker:
        succeeded(speaker.create_topic(topic=TOPIC, queue_count=1))
        speaker.heartbeat(client_id=GROUP, producer_groups=[GROUP])
        for number in range(3):
            succeeded(
                speaker.send_message(
                    topic=TOPIC, body=b"%d" % number, properties={"KEYS": KEY}
                )
            )
        speaker.wait_for_max_offset(topic=TOPIC, offset=3)
        succeeded(speaker.pull(topic=TOPIC, offset=0, group=GROUP))
        succeeded(speaker.min_offset(topic=TOPIC))
        succeeded(speaker.view_message(commit_log_offset=0))
        speaker.query_message(topic=TOPIC, key=KEY)
        speaker.update_group(group=GROUP)
        speaker.update_offset(group=GROUP, topic=TOPIC, offset=3)
        speaker.query_offset(group=GROUP, topic=TOPIC)
    with closing(Speaker.connect(name_server)) as speaker:
        speaker.wait_for_route(TOPIC)

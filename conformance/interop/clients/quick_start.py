"""Messages of the quick start of Apache's examples, and its consumer."""

from __future__ import annotations

from conformance.harness.process.process import Child
from conformance.interop.programs.program_output import Printed, received_messages

TOPIC = "TopicTest"
MESSAGES = 1000
"""Number of messages that the example's producer sends."""
CONSUMER_DEADLINE_S = 60.0


def consume(consumer: Child, sent: list[Printed]) -> list[Printed]:
    """Return the messages of *consumer* once it has printed all those *sent*."""
    wanted = {message.unique_key for message in sent}

    def all_there() -> bool:
        received = received_messages(consumer.output())
        return wanted <= {message.unique_key for message in received}

    what = f"all of {len(wanted)} messages printed"
    consumer.wait_until(all_there, what=what, deadline_s=CONSUMER_DEADLINE_S)
    return received_messages(consumer.output())

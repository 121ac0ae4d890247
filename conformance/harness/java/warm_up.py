"""
Warm-up of a cluster before Java archives its classes: one request of each kind.

Java archives the classes that are loaded at the end. A broker that only starts and
stops has loaded half of the classes of the first message, pull and query.
"""

from __future__ import annotations

from contextlib import closing

from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success

TOPIC, GROUP, KEY = "Rehearsal", "warm-up", "key"


def warm_up(name_server: Address, broker: Address) -> None:
    """Send, pull, commit and query a few messages."""
    with closing(Client.connect(broker)) as client:
        require_success(client.create_topic(topic=TOPIC, queue_count=1))
        client.heartbeat(client_id=GROUP, producer_groups=[GROUP])
        for number in range(3):
            require_success(
                client.send_message(
                    topic=TOPIC, body=b"%d" % number, properties={"KEYS": KEY}
                )
            )
        client.wait_for_max_offset(topic=TOPIC, offset=3)
        require_success(client.pull(topic=TOPIC, offset=0, group=GROUP))
        require_success(client.min_offset(topic=TOPIC))
        require_success(client.view_message(commit_log_offset=0))
        client.query_message(topic=TOPIC, key=KEY)
        client.update_group(group=GROUP)
        client.update_offset(group=GROUP, topic=TOPIC, offset=3)
        client.query_offset(group=GROUP, topic=TOPIC)
    with closing(Client.connect(name_server)) as client:
        client.wait_for_route(TOPIC)

"""
Warm-up of a cluster before Java archives its classes: one request of each kind.

Java archives the classes that a program loads. A broker that only starts and stops
loads half of the classes of the first message, pull and query.

The first process that needs an archive makes it, by a separate run of the program.
Other processes start without an archive until it exists.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success
from java_runtime.class_archive import ClassArchive

VERSION = b"3"
"""Version of the warm-up, which decides the loaded classes, and of the archives."""
TOPIC, GROUP, KEY = "Rehearsal", "warm-up", "key"


WriteArchive = Callable[[Path], None]
"""Writes the archive of a program to a file, if it can."""


def archive_options(command: Sequence[str], write: WriteArchive) -> tuple[str, ...]:
    """Return Java's options for a start of *command* with an archive of its classes.

    The classes depend on *command*: Java, its options and the program. *write* is
    called if the archive is missing and no other process makes it.
    """
    archive = ClassArchive.of_program(_parts(command))
    with archive.draft() as draft:
        if draft is not None:
            write(draft)
            draft.touch()  # empty if Java could not write it
    return archive.options()


def _parts(command: Sequence[str]) -> Iterator[bytes]:
    """Yield the words of *command*, and the times of the files in them."""
    yield VERSION
    for word in command:
        yield word.encode()
        for path in word.split(os.pathsep):
            if os.path.isfile(path):
                yield str(os.stat(path).st_mtime_ns).encode()


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

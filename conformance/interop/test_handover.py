"""
A store changes hands: what one broker wrote, another serves, every message of it.

Both directions between the reference and a real release, after an orderly stop and
after a kill. The pair of a release with itself shows that nothing of what we compare
depends on who is asked.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.harness.apache import RELEASES
from conformance.harness.target import parse_target
from conformance.interop.handover import (
    MESSAGE_COUNT,
    SETTINGS,
    Observed,
    Sent,
    observe,
    send,
    speak,
    write,
)
from spec.store.message_record import Record

PAIRS = [
    *(("embedded:", f"jvm:{release}") for release in RELEASES),
    *((f"jvm:{release}", "embedded:") for release in RELEASES),
    ("jvm:4.6.0", "jvm:4.6.0"),
]


@pytest.mark.parametrize("ending", ["stop", "kill"])
@pytest.mark.parametrize(("writer", "reader"), PAIRS)
def test_what_one_broker_wrote_another_serves(
    tmp_path: Path, writer: str, reader: str, ending: str
) -> None:
    store = tmp_path / "store"
    sent, before = write_and_end(store, writer=writer, ending=ending)
    with (
        parse_target(reader, conf=SETTINGS, store=store) as target,
        speak(target) as broker,
    ):
        after = observe(broker, sent)
        next_message = send(broker, MESSAGE_COUNT)
    check_complete(sent, before)
    if ending == "kill":
        after = forgive_kill(after, before)
    assert after == before
    assert next_message.queue_offset == end_of(before, next_message)


def write_and_end(
    store: Path, *, writer: str, ending: str
) -> tuple[list[Sent], Observed]:
    """Let *writer* fill the store and end; return what it showed of it before."""
    with parse_target(writer, conf=SETTINGS, store=store) as target:
        with speak(target) as broker:
            sent = write(broker)
            before = observe(broker, sent)
        if ending == "stop":
            target.stop()
        else:
            target.kill()
    commit_log = sorted(path.name for path in (store / "commitlog").iterdir())
    assert len(commit_log) >= 2, f"the commit log did not roll over: {commit_log}"
    return sent, before


def check_complete(sent: list[Sent], observed: Observed) -> None:
    """Check that *observed* shows each message that was *sent*, by every way."""
    for one, by_id in zip(sent, observed.by_id, strict=True):
        place = (one.topic, one.queue_id)
        pulled = observed.messages[place][one.queue_offset]
        assert pulled.body == one.body
        assert by_id == pulled
        assert observed.by_key[one.key] == [pulled]
        assert observed.by_unique_key[one.unique_key] == [pulled]
    assert sum(map(len, observed.messages.values())) == len(sent)


def forgive_kill(after: Observed, before: Observed) -> Observed:
    """
    Return *after* without what a kill may change.

    Committed offsets are written every few seconds only. And recovery indexes the last
    message of the newest index file that it keeps once more, so that 4.6.0 then finds
    it twice (org.apache.rocketmq.store.index.IndexService#buildIndex).
    """
    return replace(
        after,
        committed=before.committed,
        by_key={key: unrepeated(found) for key, found in after.by_key.items()},
        by_unique_key={
            key: unrepeated(found) for key, found in after.by_unique_key.items()
        },
    )


def unrepeated(found: list[Record]) -> list[Record]:
    """Return *found*, each record once."""
    return list(dict.fromkeys(found))


def end_of(observed: Observed, one: Sent) -> int:
    """Return the end of the queue that *one* went to."""
    return observed.offsets[one.topic, one.queue_id][1]

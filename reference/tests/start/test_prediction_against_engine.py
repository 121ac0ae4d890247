"""The forecast of a start equals the reference's start on the same store."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reference.core.recovery_forecast.forecast import forecast
from reference.core.recovery_forecast.outcome import Outcome
from reference.core.store.commitlog.record_reader import stored_at_of
from reference.core.store.mapped.files import FilesError
from reference.core.store.message_store import MessageStore
from reference.core.store.recovery.rules import (
    REFERENCE,
    Dispatch,
    RecoveryRules,
    WrongSizeFilePolicy,
)
from reference.tests.start.damaged_stores import (
    Harm,
    MemoryView,
    Put,
    corrupt,
    harms,
    puts,
    written,
)
from reference.tests.store.small_stores import NOON_MS, TINY

Places = dict[tuple[str, int], list[int]]


Story = tuple[list[Put], bool, list[Harm]]
stories = st.tuples(
    st.lists(puts, min_size=1, max_size=16), st.booleans(), st.lists(harms, max_size=3)
)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(story=stories)
def test_a_start_does_what_was_foretold(story: Story) -> None:
    assert what_differs(story, REFERENCE) == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"wrong_size_file": WrongSizeFilePolicy.IGNORE_REST},
        {"dispatch": Dispatch.NONE},
        {"dispatch": Dispatch.IN_THE_SCAN},
        {"end_is_last_begin": True},
        {"keeps_filling_index_files": True},
        {"magics": frozenset({1})},
    ],
    ids=lambda wrong: "-".join(f"{name}={value}" for name, value in wrong.items()),
)
def test_a_wrong_rule_is_noticed(wrong: dict[str, Any]) -> None:
    rules = replace(REFERENCE, **wrong)
    find(
        stories,
        lambda story: what_differs(story, rules) != "",
        settings=settings(
            deadline=None, max_examples=500, derandomize=True, phases=[Phase.generate]
        ),
    )


def what_differs(story: Story, rules: RecoveryRules) -> str:
    """Return in what a start differs from what was foretold by *rules*."""
    row, stops, harm = story
    files = written(row, stops=stops)
    corrupt(files, harm)
    foretold = forecast(MemoryView(files), rules, TINY)
    try:
        store = MessageStore(files, TINY, NOON_MS)
    except FilesError:
        return "" if foretold.refusal else "the refusal"
    queues = {
        queue.name: (queue.min_offset, queue.max_offset)
        for queue in foretold.queues
        if queue.max_offset
    }
    facts = {
        "the refusal": foretold.refusal is None,
        "the log": log_of(store) == (foretold.log.start, foretold.log.end),
        "the queues": queues_of(store) == queues,
        "the index": len(files.names("index")) == foretold.index.files,
        "what is seen": hides(store, foretold),
    }
    return next((name for name, is_so in facts.items() if not is_so), "")


def log_of(store: MessageStore) -> tuple[int, int]:
    return max(store.log.files.start, 0), store.log.files.end


def queues_of(store: MessageStore) -> dict[tuple[str, int], tuple[int, int]]:
    """Return both ends of the queues that have messages."""
    return {
        (queue.topic, queue.queue_id): (queue.min_offset, queue.max_offset)
        for queue in store.queues
        if queue.max_offset
    }


def hides(store: MessageStore, foretold: Outcome) -> bool:
    """Return whether no reader gets what was called invisible."""
    ends = [
        (one, end)
        for one in foretold.invisible
        for end in (
            (one.begin, one.first_stored_ms),
            (one.end - 1, one.last_stored_ms),
        )
    ]
    return all(
        end not in handed_out(store, one.topic, one.queue_id) for one, end in ends
    )


def handed_out(store: MessageStore, topic: str, queue_id: int) -> set[tuple[int, int]]:
    """Return queue offset and store time of the whole records that a reader gets."""
    found: set[tuple[int, int]] = set()
    offset = store.min_offset(topic, queue_id)
    while (
        response := store.get(topic, queue_id, offset, 3)
    ).next_begin_offset > offset:
        found |= {
            (int.from_bytes(record[20:28], "big"), stored_at_of(record))
            for record in response.records
            if 0 < int.from_bytes(record[:4], "big") == len(record)
        }
        offset = response.next_begin_offset
    return found

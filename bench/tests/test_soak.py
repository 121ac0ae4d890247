"""The balance of a soak, and the faults that it reports."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from bench.longrun.memory import Memory
from bench.longrun.soak import MEMORY_MAX, Figures, as_table, main, memory_faults
from bench.longrun.soak_events import (
    EVENT,
    Balance,
    ClientRun,
    Keys,
    Kind,
    balance,
    read_events,
)
from bench.longrun.soak_store import read_stored

STORE = Path(__file__).parents[2] / "fixtures" / "store" / "4.6.0-stopped"
TOPIC = "HandoverOrders"


def key(name: str) -> bytes:
    """Return the unique key of the message that is called so."""
    return name.encode().rjust(16, b"-")


def run(*events: tuple[Kind, int, int, str], **begins: int) -> ClientRun:
    """Return a run with these events; ``q0=3`` is what was committed before it."""
    rows = [(kind, queue, offset, key(name)) for kind, queue, offset, name in events]
    begun = {int(name[1:]): offset for name, offset in begins.items()}
    return ClientRun(events=np.array(rows, EVENT), begins=begun)


def sent(*places: tuple[int, int, str]) -> ClientRun:
    return run(*((Kind.ANSWERED, *place) for place in places))


def got(*places: tuple[int, int, str], **begins: int) -> ClientRun:
    return run(*((Kind.RECEIVED, *place) for place in places), **begins)


A, B, C = (0, 0, "a"), (0, 1, "b"), (2, 0, "c")
STORED = {0: ("a", "b"), 2: ("c",)}


def balanced(
    producers: Sequence[ClientRun] = (sent(A, B, C),),
    consumers: Sequence[ClientRun] = (got(A, B, C),),
    stored: Mapping[int, Sequence[str]] = STORED,
    committed: Mapping[int, int] | None = None,
) -> Balance:
    """Return the balance; everything is as it has to be unless something is given."""
    queues: dict[int, Keys] = {
        queue_id: np.array([key(name) for name in names], "S16")
        for queue_id, names in stored.items()
    }
    last = {queue_id: len(names) for queue_id, names in stored.items()}
    return balance(
        queues,
        producers=producers,
        consumers=consumers,
        committed=last if committed is None else committed,
        at_once=1,
    )


def test_what_went_well_has_no_faults() -> None:
    found = balanced()
    assert (found.stored, found.answered, found.received) == (3, 3, 3)
    assert found.faults == ()


def test_what_at_least_once_allows_is_counted_and_no_fault() -> None:
    resent = run((Kind.FAILED, -1, -1, "c"), (Kind.ANSWERED, *A))
    again = got(B, C, (2, 1, "c"), q0=1)
    stored = {0: ("a", "b"), 2: ("c", "c")}
    found = balanced([resent, sent((2, 1, "c"))], [got(A, B), again], stored)
    assert (found.unanswered, found.in_flight, found.failed) == (2, 2, 1)
    assert (found.stored_twice, found.repeated, found.received) == (1, 1, 4)
    assert found.faults == ()


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (balanced([sent(A, (0, 1, "x"), C)]), "1 answered messages are not where"),
        (balanced([sent(A, (0, 2, "b"), C)]), "1 answered messages are not where"),
        (balanced([sent(A, (1, 0, "b"), C)]), "1 answered messages are not where"),
        (balanced([sent(A, (9, 0, "b"), C)]), "1 answered messages are not where"),
        (balanced([sent(A)]), "1 messages are stored that nobody can have sent"),
        (
            balanced(stored={0: ("a", "b"), 2: ("c", "c")}),
            "1 messages are stored twice without a failed attempt",
        ),
        (balanced(consumers=[got(A, B)]), "1 stored messages were never received"),
        (
            balanced(consumers=[got(A, B, C, (0, 1, "c"))]),
            "1 received messages are not",
        ),
        (balanced(consumers=[got(A, B, C, C)]), "1 messages came again without need"),
        (
            balanced(consumers=[got(A, B, C), got(A, B, q0=1)]),
            "1 messages came again without need",
        ),
        (balanced(committed={0: 2}), "1 messages are not committed"),
        (balanced(committed={0: 3, 2: 1}), "1 messages are not committed"),
        (balanced(consumers=[], stored={}), "3 answered messages are not where"),
    ],
)
def test_what_is_wrong_is_told(wrong: Balance, fault: str) -> None:
    assert any(text.startswith(fault) for text in wrong.faults), wrong.faults


def test_an_event_that_was_cut_short_is_none(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    assert not len(read_events(notes))
    whole = sent(A, B).events.tobytes()
    notes.write_bytes(whole + whole[:31])
    assert read_events(notes).tolist() == sent(A, B).events.tolist()


def test_a_store_is_read_from_its_files(tmp_path: Path) -> None:
    stored = read_stored(STORE, TOPIC)
    sizes = {queue_id: len(keys) for queue_id, keys in stored.queues.items()}
    assert (sizes, stored.gaps) == ({0: 15, 1: 15, 2: 13, 3: 12}, ())
    assert stored.queues[1][0] == bytes.fromhex("7F000001" + "0" * 23 + "3")
    damaged = tmp_path / "store"
    shutil.copytree(STORE, damaged)
    (queue,) = (damaged / "consumequeue" / TOPIC / "2").iterdir()
    units = bytearray(queue.read_bytes())
    units[:20] = units[20:40]
    queue.write_bytes(units)
    shutil.rmtree(damaged / "consumequeue" / TOPIC / "3")
    first, second = sorted((damaged / "commitlog").iterdir())
    second.unlink()
    first.write_bytes(first.read_bytes()[:20_000])
    gaps = read_stored(damaged, TOPIC).gaps
    assert any(gap.startswith("the log stops at") for gap in gaps)
    assert any(gap.startswith("queue 3: 0 units for") for gap in gaps)
    assert any(gap.startswith("queue 2: ") for gap in gaps)


@pytest.mark.parametrize(
    ("peak", "second", "faults"),
    [
        (MEMORY_MAX, Memory(11 * 10**6, 22 * 10**6), []),
        (0, Memory(11_100_000, 0), ["memory grew: 10.0 MB, 11.1 MB"]),
        (0, Memory(0, 22_100_000), ["memory of mapped files grew: 20.0 MB, 22.1 MB"]),
        (MEMORY_MAX + 10**6, Memory(0, 0), ["memory was 201.0 MB"]),
    ],
)
def test_memory_is_judged(peak: int, second: Memory, faults: list[str]) -> None:
    assert memory_faults(peak, Memory(10**7, 2 * 10**7), second) == faults


def test_pages_between_two_releases_are_not_growth() -> None:
    samples = [(10, 30), (10, 31), (99, 30), (10, 30), (11, 60), (10, 30)]
    found = replace(
        figures("embedded:", balanced()), memory=[Memory(*each) for each in samples]
    )
    assert (found.peak, found.kept) == (129, (Memory(10, 30), Memory(10, 30)))
    assert found.faults == []


def figures(target: str, found: Balance) -> Figures:
    return Figures(
        target=target,
        seed=7,
        minutes=1.0,
        restarts={"Producer": 2, "Consumer": 1},
        memory=[Memory(10**6, 10**6), Memory(3 * 10**6, 10**6)],
        gaps=(),
        balance=found,
    )


def test_a_table_and_a_verdict_for_each() -> None:
    ours, theirs = figures("embedded:", balanced()), figures("jvm:4.6.0", balanced())
    assert ours.faults == ["memory grew: 1.0 MB, 3.0 MB"]
    assert theirs.faults == []
    console = Console(width=100, file=StringIO())
    with console.capture() as shown:
        console.print(as_table([ours, theirs]))
    assert "jvm:4.6.0" in shown.get()
    assert "as it has to be" in shown.get()
    assert "memory grew: 1.0 MB, 3.0 MB" in shown.get()
    assert ours.as_json()["faults"] == ours.faults


def test_a_disk_without_room_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = SimpleNamespace(free=1)
    monkeypatch.setattr("bench.longrun.soak.shutil.disk_usage", lambda _path: full)
    assert main(["0.1"]) == 2
    assert "room for 1 bytes" in capsys.readouterr().err

"""
The model of a power cut, on traces of a few events.
"""

from __future__ import annotations

from reference.tests.crash.images import Images, seeded
from reference.tests.crash.power_cut import Disk, Geometry
from reference.tests.crash.trace import (
    Deleted,
    Event,
    Flushed,
    Made,
    Renamed,
    Settled,
    Sized,
    Written,
)

TWO_SECTORS = Geometry(page_size=4, sector_size=2)


def contents(*events: Event, **image: bytes) -> set[tuple[tuple[str, bytes], ...]]:
    """Return all that a disk may hold after *events*, each once."""
    disk = Disk(image, TWO_SECTORS)
    for event in events:
        disk.follow(event)
    found = Images(disk).some(10_000, seeded(0))
    return {tuple(sorted(image.content.items())) for image in found}


def contents_of_a(*events: Event, **image: bytes) -> set[bytes | None]:
    """Return all that the file a may hold, None where it may be missing."""
    return {dict(found).get("a") for found in contents(*events, **image)}


def test_what_was_flushed_is_there() -> None:
    assert contents_of_a(Written(0, 0, b"xxxx"), Flushed(0), a=b"....") == {b"xxxx"}


def test_what_was_not_flushed_may_be_there_by_the_page() -> None:
    found = contents_of_a(Written(0, 0, b"xxxxyyyy"), a=b"........")
    whole = {b"........", b"xxxx....", b"....yyyy", b"xxxxyyyy"}
    assert whole <= found
    torn = {b"xx......", b"..xx....", b"xx..yyyy", b"..xxyyyy"}
    assert torn <= found
    assert len(found) == 4 * 4


def test_a_page_may_be_in_any_state_that_it_went_through() -> None:
    written = [Written(0, at, b"%d" % at) for at in range(4)]
    found = contents_of_a(*written, a=b"....")
    assert {b"....", b"0...", b"01..", b"012.", b"0123"} <= found
    assert b".1.." not in found


def test_states_before_a_flush_are_gone() -> None:
    events = (Written(0, 0, b"1"), Flushed(0), Written(0, 0, b"2"))
    assert contents_of_a(*events, a=b"....") == {b"1...", b"2..."}


def test_files_are_torn_independently() -> None:
    found = contents(Written(0, 0, b"x"), Written(1, 0, b"y"), a=b"....", b=b"....")
    assert len(found) == 2 * 2


def test_names_are_there_in_order() -> None:
    events = (Made(0, "a"), Sized(0, 4), Made(1, "b"), Sized(1, 2))
    found = {tuple(path for path, _ in one) for one in contents(*events)}
    assert found == {(), ("a",), ("a", "b")}
    assert contents_of_a(*events) == {None, b"", bytes(4)}


def test_a_renamed_file_is_the_old_or_the_new() -> None:
    events = (
        Made(1, "new.tmp"),
        Written(1, 0, b""),
        Sized(1, 2),
        Written(1, 0, b"22"),
        Flushed(1),
        Renamed("new.tmp", "a"),
    )
    assert contents_of_a(*events, a=b"1") == {b"1", b"22"}
    assert contents_of_a(*events, Settled(), a=b"1") == {b"22"}


def test_a_deleted_file_may_be_back_until_something_is_flushed() -> None:
    assert contents_of_a(Deleted("a"), a=b"1", b=b"2") == {b"1", None}
    assert contents_of_a(Deleted("a"), Flushed(1), a=b"1", b=b"2") == {None}


def test_too_many_images_are_sampled_with_their_corners() -> None:
    disk = Disk({"a": bytes(400)}, TWO_SECTORS)
    disk.follow(Written(0, 0, b"x" * 400))
    images = Images(disk)
    assert images.count == 4**100
    found = [image.content["a"] for image in images.some(20, seeded(1))]
    assert {bytes(400), b"x" * 400} <= set(found)
    again = [image.content["a"] for image in images.some(20, seeded(1))]
    assert found == again

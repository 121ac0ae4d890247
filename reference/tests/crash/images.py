"""
Enumerating images: all of them where they are few, else the corners and a sample.

A choice is how many waiting names are there, and one state for each page that was
not flushed. Corners are the choices that a person would name: nothing of it, all
of it, all but one file, only one file. Of each file alone all choices are taken where
that is possible. A sample is drawn from a seeded source, so a failure can be had again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import product
from math import prod
from random import Random
from typing import NamedTuple

from reference.tests.crash.power_cut import Disk, Names

Choice = dict[tuple[int, int], int]
"""By file number and page, which of its states; 0, the newest, where none is named."""
ALL_OF_A_FILE = 3
"""Limit for all choices of one file, as a multiple of the drawn images.

The other files are at a corner meanwhile.
"""


def seeded(seed: int) -> Random:
    """Return the source of a sample that can be had again."""
    return Random(seed)  # noqa: S311 - no secret is made of it


class Image(NamedTuple):
    """One content of the disk, and how it came about."""

    description: str
    content: dict[str, bytes]

    @property
    def digest(self) -> bytes:
        """Hash of the content, so that equal contents are checked only once."""
        found = blake2b(digest_size=16)
        for path in sorted(self.content):
            data = self.content[path]
            found.update(f"{path} {len(data)}\n".encode())
            found.update(data)
        return found.digest()


class Images:
    """The images of one moment."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._names = [disk.names_after(n) for n in range(len(disk.waiting) + 1)]
        named = {number for names in self._names for number in names.numbers.values()}
        self._states = {
            (number, page): states
            for number in sorted(named)
            for page, states in sorted(disk.states_of(number).items())
        }
        self._old = {
            place: states.index(disk.contents[place[0]].states[place[1]][0])
            for place, states in self._states.items()
        }

    @property
    def count(self) -> int:
        """Largest number of images; equal ones are counted apart."""
        return len(self._names) * prod(len(states) for states in self._states.values())

    def some(self, limit: int, random: Random) -> Iterator[Image]:
        """Yield all images if they are no more than *limit*, else corners and some."""
        if self.count <= limit:
            for choice in _all(self._states, self._states):
                for names in range(len(self._names)):
                    yield self._image(names, choice)
            return
        yield from self.corners(limit * ALL_OF_A_FILE)
        for _ in range(limit):
            choice = {
                place: random.randrange(len(states))
                for place, states in self._states.items()
            }
            yield self._image(random.randrange(len(self._names)), choice)

    def corners(self, limit: int) -> Iterator[Image]:
        """Yield the images that have a name, and those of one file if few enough."""
        everything = len(self._names) - 1
        for names in range(len(self._names)):
            yield self._image(names, self._old)
            yield self._image(names, {})
        for number in {place[0] for place in self._states}:
            own = [place for place in self._states if place[0] == number]
            ways = prod(len(self._states[place]) for place in own)
            for others in ({}, self._old):
                rest = {place: others.get(place, 0) for place in self._states}
                choices: Iterable[Choice] = (
                    _all(self._states, own)
                    if ways <= limit
                    else ({}, {place: self._old[place] for place in own})
                )
                for choice in choices:
                    mine = {place: choice.get(place, 0) for place in own}
                    yield self._image(everything, rest | mine)

    def draw(self, names: int, choice: Iterable[int]) -> Image:
        """Return the image that some drawn numbers choose, taken modulo the choices."""
        numbers = zip(self._states, choice, strict=False)
        wanted = {place: n % len(self._states[place]) for place, n in numbers}
        return self._image(names % len(self._names), wanted)

    def _image(self, count: int, choice: Choice) -> Image:
        names = self._names[count]
        return Image(
            self._description(count, choice),
            {
                path: self._content(names, number, choice)
                for path, number in names.numbers.items()
                if not path.endswith(".tmp")
            },
        )

    def _content(self, names: Names, number: int, choice: Choice) -> bytes:
        found = bytearray(self._disk.contents[number].now)
        size = self._disk.geometry.page_size
        for place, states in self._states.items():
            if place[0] == number:
                begin = place[1] * size
                state = states[choice.get(place, 0)]
                found[begin : begin + len(state)] = state
        return bytes(found[: names.sizes[number]])

    def _description(self, count: int, choice: Choice) -> str:
        paths = {n: path for path, n in self._names[-1].numbers.items()}
        pages = [
            f"{paths.get(place[0], 'a deleted file')} page {place[1]}: "
            + ("flushed" if choice.get(place, 0) == old else f"{choice.get(place, 0)}")
            for place, old in self._old.items()
            if choice.get(place, 0)
        ]
        names = f"{count} of {len(self._names) - 1} names"
        return "; ".join([names, *pages])


def _all(
    states: dict[tuple[int, int], list[bytes]], places: Iterable[tuple[int, int]]
) -> Iterator[Choice]:
    """Yield every choice for *places*."""
    wanted = list(places)
    for numbers in product(*(range(len(states[place])) for place in wanted)):
        yield dict(zip(wanted, numbers, strict=True))

"""
Power cuts at every event of a trace, with one check of each image.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from reference.core.store.types import StoreOptions
from reference.tests.crash.images import Image, Images
from reference.tests.crash.oracle import judge
from reference.tests.crash.power_cut import Disk, Geometry
from reference.tests.crash.trace import Belief, Trace


class Cuts:
    """All moments of a trace, and what was seen at them."""

    def __init__(
        self,
        trace: Trace,
        geometry: Geometry,
        options: StoreOptions,
        *,
        limit: int,
        random: Random,
    ) -> None:
        self.started = 0
        """On how many images a store was started: equal ones count once."""
        self._trace = trace
        self._geometry = geometry
        self._options = options
        self._limit = limit
        self._random = random

    def faults(self) -> Iterator[str]:
        """Yield what was wrong anywhere, with the moment and the image."""
        seen: set[tuple[bytes, int, int]] = set()
        for moment, images, before, after in self.moments():
            for image in images.some(self._limit, self._random):
                promise = (image.digest, before.flushed, len(after.records))
                if promise in seen:
                    continue
                seen.add(promise)
                self.started += 1
                for fault in self._judged(image, before, after):
                    yield f"cut after event {moment}: {image.says}: {fault}"

    def moments(self) -> Iterator[tuple[int, Images, Belief, Belief]]:
        """Yield every moment: events so far, the images, the beliefs around it."""
        disk = Disk(self._trace.image, self._geometry)
        for number, event in enumerate(self._trace.events, 1):
            disk.follow(event)
            yield number, Images(disk), *self._trace.beliefs_at(number)

    def _judged(self, image: Image, before: Belief, after: Belief) -> tuple[str, ...]:
        return judge(image, before, after, self._options).faults

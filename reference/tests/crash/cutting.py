"""
Power cuts at every event of a trace, with one check of each image.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from reference.core.store.types import StoreOptions
from reference.tests.crash.images import Image, Images
from reference.tests.crash.oracle import check_image
from reference.tests.crash.power_cut import Disk, Geometry
from reference.tests.crash.trace import StoreState, Trace


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
        """Yield each fault, with its moment and image."""
        seen: set[tuple[bytes, int, int]] = set()
        for moment, images, before, after in self.moments():
            for image in images.some(self._limit, self._random):
                promise = (image.digest, before.flushed, len(after.records))
                if promise in seen:
                    continue
                seen.add(promise)
                self.started += 1
                for fault in self._faults_of(image, before, after):
                    yield f"cut after event {moment}: {image.description}: {fault}"

    def moments(self) -> Iterator[tuple[int, Images, StoreState, StoreState]]:
        """Yield every moment: events so far, the images, the beliefs around it."""
        disk = Disk(self._trace.image, self._geometry)
        for number, event in enumerate(self._trace.events, 1):
            disk.follow(event)
            yield number, Images(disk), *self._trace.states_at(number)

    def _faults_of(
        self, image: Image, before: StoreState, after: StoreState
    ) -> tuple[str, ...]:
        return check_image(image, before, after, self._options).faults

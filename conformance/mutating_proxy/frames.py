"""Frames in a stream of bytes, as far as it consists of frames."""

from __future__ import annotations

from spec.layout import LayoutError
from spec.wire.remoting.frame import take_frame


class FrameBuffer:
    """Bytes of one direction that are not a whole frame yet."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.is_broken = False
        """Whether bytes came that are not a frame: no later ones are found."""

    def add(self, data: bytes) -> list[bytes]:
        """Return the frames that *data* completes."""
        self._data += data
        frames: list[bytes] = []
        try:
            while not self.is_broken and (frame := take_frame(self._data)) is not None:
                frames.append(frame)
        except LayoutError:
            self.is_broken = True
        return frames

    def take_rest(self) -> bytes:
        """Return the bytes that are not a whole frame, which are dropped here."""
        rest = bytes(self._data)
        self._data.clear()
        return rest

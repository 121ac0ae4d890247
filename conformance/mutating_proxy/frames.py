"""Frames in a stream of bytes, as far as it consists of frames."""

from __future__ import annotations

from spec.wire.remoting.frame import FRAME_SIZE_MAX, SIZE_WORD


class FrameBuffer:
    """Bytes of one direction that are not a whole frame yet."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.is_broken = False
        """Whether bytes came that are not a frame: no later ones are found."""

    def add(self, data: bytes) -> list[bytes]:
        """Return the frames that *data* completes."""
        self._data += data
        frames = []
        while not self.is_broken and len(self._data) >= SIZE_WORD:
            size = int.from_bytes(self._data[:SIZE_WORD], signed=True)
            if not 0 < size <= FRAME_SIZE_MAX:
                self.is_broken = True
            elif len(self._data) >= SIZE_WORD + size:
                frames.append(bytes(self._data[: SIZE_WORD + size]))
                del self._data[: SIZE_WORD + size]
            else:
                break
        return frames

    def take_rest(self) -> bytes:
        """Return the bytes that are not a whole frame, which are dropped here."""
        rest = bytes(self._data)
        self._data.clear()
        return rest

"""
A batch of records as an Arrow record batch that shares the bytes of the file.

Topics, properties and bodies are columns of Arrow's binary views. A view has 16 bytes:
a short value itself, or the place of a long one. A body is therefore never copied.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from columns.gather import Ints
from columns.log_batch import LogBatch

SHARED_SIZE_MAX = 2**31 - 1
"""Largest number of shared bytes: a view has a signed 32-bit offset."""

_INLINE = 12
"""Bytes of a value that fit into the view, behind its 4-byte size."""
_MASKS: npt.NDArray[np.uint32] = np.array(
    [list(bytes([255] * size).ljust(_INLINE, b"\0")) for size in range(_INLINE + 1)],
    dtype=np.uint8,
).view("<u4")
"""Masks of the 12 bytes behind a value's begin, by the value's size."""


def as_arrow(batch: LogBatch) -> pa.RecordBatch:
    """Return *batch* with its offsets and a column for each field."""
    if len(batch.data) > SHARED_SIZE_MAX:
        raise ValueError(f"{len(batch.data)} bytes are too many to share with Arrow")
    numbers, places = batch.fields.numbers, batch.fields.places
    columns = [pa.array(batch.offsets)]
    columns += [pa.array(column) for column in numbers.values()]
    columns += [_views(batch.data, *where) for where in places.values()]
    return pa.RecordBatch.from_arrays(columns, ["offset", *numbers, *places])


def _views(data: bytes, begins: Ints, sizes: Ints) -> pa.Array:
    """Return the values at *begins*, in rising order, as views that share *data*.

    See "Variable-size Binary View Layout" in Arrow's Columnar Format.
    """
    views = np.empty((len(begins), 4), dtype="<u4")
    views[:, 0] = sizes
    is_long = sizes > _INLINE
    heads = _heads(data, begins)
    if is_long.all():
        views[:, 1] = heads[:, 0]
        views[:, 2] = 0
        views[:, 3] = begins
    else:
        masks = _masks(np.minimum(sizes, _INLINE))
        for word in range(3):  # by word: numpy is slow along rows of three
            np.bitwise_and(heads[:, word], masks[:, word], out=views[:, word + 1])
        if is_long.any():
            views[:, 2] = np.where(is_long, 0, views[:, 2])
            views[:, 3] = np.where(is_long, begins, views[:, 3])
    buffers = [None, pa.py_buffer(views), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary_view(), len(begins), buffers)


def _masks(sizes: Ints) -> npt.NDArray[np.uint32]:
    """Return the masks of values of up to 12 bytes; often all have one size."""
    if len(sizes) and (sizes == sizes[0]).all():
        return _MASKS[sizes[:1]]
    return _MASKS[sizes]


def _heads(data: bytes, begins: Ints) -> npt.NDArray[np.uint32]:
    """Return the 12 bytes from each of *begins*, zeros behind the data's end."""
    last = len(data) - _INLINE
    if last < 0 or not len(begins):
        return np.zeros((0, 3), dtype="<u4")
    rows: npt.NDArray[np.void] = np.ndarray((last + 1,), f"V{_INLINE}", data, 0, (1,))
    if begins[-1] <= last:
        return rows[begins].view("<u4").reshape(-1, 3)
    heads = rows[np.minimum(begins, last)]
    for index in np.flatnonzero(begins > last).tolist():
        heads[index] = np.void(data[begins[index] :].ljust(_INLINE, b"\0"))
    return heads.view("<u4").reshape(-1, 3)

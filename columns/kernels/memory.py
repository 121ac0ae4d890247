"""
Memory operations that numba lacks, as LLVM intrinsics.

An eight-byte word is loaded unaligned, in little-endian order. Callers guarantee that
it lies within the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from columns.gather import Places

DATA = types.Array(types.uint8, 1, "C", readonly=True)
INTS = types.int64[::1]
WORDS = types.uint64[::1]
BOOLS = types.boolean[::1]
OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
INNER = {**OPTIONS, "forceinline": True}
"""Options of functions that other kernels call."""
LINE = 64
"""Bytes of a cache line."""
BLOCK = 64
"""Bytes of a vector with a bit in a word for each."""


def of_each(kernel: Any, data: bytes, values: Places, kind: Any, *more: Any) -> Any:
    """Return the column of *kind* that *kernel* computes from each of *values*."""
    begins, sizes = map(np.ascontiguousarray, values)
    found = np.empty(len(begins), dtype=kind)
    kernel(np.frombuffer(data, dtype=np.uint8), begins, sizes, *more, found)
    return found


def _first_byte(context: Any, builder: Any, kind: Any, data: Any, at: Any) -> Any:
    """Return a pointer to the byte *at* of *data*."""
    array = context.make_array(kind)(context, builder, data)
    return builder.gep(array.data, [at])


@intrinsic
def word_at(typing_context: Any, data: Any, at: Any) -> Any:  # noqa: ARG001 # numba's
    """Return the eight bytes of *data* from *at*."""

    def generated(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _first_byte(context, builder, signature.args[0], args[0], args[1])
        word = builder.bitcast(place, ir.IntType(64).as_pointer())
        return builder.load(word, align=1)

    return types.uint64(data, at), generated


@intrinsic
def fetch_ahead(typing_context: Any, data: Any, at: Any) -> Any:  # noqa: ARG001 # numba's
    """Prefetch the byte *at* of *data*, which may lie behind its end."""

    def generated(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _first_byte(context, builder, signature.args[0], args[0], args[1])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        name = "llvm.prefetch.p0"
        called = builder.module.globals.get(name) or ir.Function(
            builder.module, kind, name
        )
        reading, near, of_data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(called, [place, reading, near, of_data])
        return context.get_dummy_value()

    return types.none(data, at), generated


@intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:  # noqa: ARG001 # numba's
    """Return the number of the lowest set bit of *word*, which is not zero."""

    def generated(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(word), generated


@intrinsic
def low_bytes_at(typing_context: Any, data: Any, at: Any, limit: Any) -> Any:  # noqa: ARG001 # numba's
    """Return a bit for each of the BLOCK bytes of *data* from *at*, if below *limit*.

    The first byte has the lowest bit. A *limit* of 128 finds ASCII.
    """

    def generated(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _first_byte(context, builder, signature.args[0], args[0], args[1])
        kind = ir.VectorType(ir.IntType(8), BLOCK)
        block = builder.load(builder.bitcast(place, kind.as_pointer()), align=1)
        byte = builder.trunc(args[2], ir.IntType(8))
        one = builder.insert_element(
            ir.Constant(kind, ir.Undefined), byte, ir.Constant(ir.IntType(32), 0)
        )
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
        every = builder.shuffle_vector(one, one, lanes)
        are_low = builder.icmp_unsigned("<", block, every)
        return builder.bitcast(are_low, ir.IntType(64))

    return types.uint64(data, at, limit), generated


@intrinsic
def crc32_by(
    typing_context: Any,  # noqa: ARG001 # numba's
    function: Any,
    data: Any,
    begin: Any,
    size: Any,
) -> Any:
    """Return the result of a C *function*, given by its address, for some bytes.

    The function takes the previous checksum, a pointer and a size.
    """

    def generated(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _first_byte(context, builder, signature.args[1], args[1], args[2])
        number, count = ir.IntType(32), ir.IntType(64)
        kind = ir.FunctionType(number, [number, place.type, count])
        called = builder.inttoptr(args[0], kind.as_pointer())
        return builder.call(called, [ir.Constant(number, 0), place, args[3]])

    return types.uint32(function, data, begin, size), generated

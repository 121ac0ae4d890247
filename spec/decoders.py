"""
Every decoder of the specification, as a function of bytes.

The list makes itself: a function of a module of ``spec`` whose name begins with
``decode_`` is a decoder, with every setting of its switches. Every layout is one too,
read by construct and by its derived codec. The property tests of ``spec`` and the
fuzzing in ``bench`` use this list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import FunctionType, MappingProxyType
from typing import Any

from construct import Struct

from spec.derive.struct_codec import compile_codec
from spec.layout import parse
from spec.layouts import LAYOUTS
from spec.recognise import recognise
from spec.registry import modules
from spec.store.commit_log import scan
from spec.store.index_file import items_of_slot
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_body import Body, decode_body, members

OF_OUR_OWN = {"spec.observed.decode_observed": "files that we write, not a peer"}
"""Decoders of what no peer sends and no store holds, and what they are for."""

GROWTH = 200
"""Bytes of memory that a decoder may take for each byte that it is given."""
INFLATED_GROWTH = 1100 * GROWTH
"""The same where the bytes are deflated, which makes up to 1032 of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyDecoder:
    """Something that reads bytes, and raises LayoutError where they are not good."""

    name: str
    decode: Callable[[bytes], object]
    growth: int = GROWTH


@cache
def all_decoders() -> Mapping[str, AnyDecoder]:
    """Return every decoder by name."""
    found = {
        decoder.name: decoder
        for part in (_functions(), _bodies(), _layouts(), _others())
        for decoder in part
    }
    return MappingProxyType(dict(sorted(found.items())))


def decoding_functions() -> dict[str, FunctionType]:
    """Return every public function ``decode_...`` of the specification, by name."""
    return {
        f"{module.__name__}.{name}": value
        for module in modules()
        for name, value in vars(module).items()
        if isinstance(value, FunctionType)
        and name.startswith("decode_")
        and value.__module__ == module.__name__
    }


def _functions() -> Iterator[AnyDecoder]:
    for name, function in decoding_functions().items():
        first, *others = inspect.signature(function).parameters.values()
        if name in OF_OUR_OWN or function is decode_body:
            continue
        of_bytes = _of_text(function) if first.annotation == "str" else function
        short = name.removeprefix("spec.")
        yield AnyDecoder(name=short, decode=_whole(of_bytes))
        for switch in others:
            assert isinstance(switch.default, bool), f"{name}: what to give {switch}?"
            given = {switch.name: not switch.default}
            yield AnyDecoder(
                name=f"{short}, {switch.name} {not switch.default}",
                decode=_whole(of_bytes, **given),
                growth=INFLATED_GROWTH if switch.name == "compressed" else GROWTH,
            )


def _bodies() -> Iterator[AnyDecoder]:
    for module in modules():
        for name, value in vars(module).items():
            if not isinstance(value, type) or value.__module__ != module.__name__:
                continue
            if issubclass(value, Body) and members(value):
                yield AnyDecoder(name=f"body {name}", decode=_body(value))


def _layouts() -> Iterator[AnyDecoder]:
    for name, layout in LAYOUTS.items():
        yield AnyDecoder(name=f"layout {name}", decode=_parsed(layout))
        yield AnyDecoder(name=f"codec {name}", decode=compile_codec(layout).decode)


def _others() -> Iterator[AnyDecoder]:
    yield AnyDecoder(name="store.commit_log.scan", decode=scan)
    yield AnyDecoder(name="wire.bodies.fastjson.loads", decode=fastjson.loads)
    yield AnyDecoder(name="recognise", decode=recognise)
    yield AnyDecoder(
        name="store.index_file.items_of_slot",
        decode=lambda data: list(items_of_slot(data, 5, 3)),
    )


def _of_text(function: Callable[..., object]) -> Callable[..., object]:
    """Return *function*, which takes text, as one that takes bytes."""

    def of_bytes(data: bytes, **given: Any) -> object:
        return function(data.decode("utf-8", "surrogateescape"), **given)

    return of_bytes


def _whole(function: Callable[..., object], **given: Any) -> Callable[[bytes], object]:
    """Return *function*, with its deferred work done immediately."""

    def decode(data: bytes) -> object:
        found = function(data, **given)
        return list(found) if isinstance(found, Iterator) else found

    return decode


def _body(body: type[Body]) -> Callable[[bytes], object]:
    return lambda data: decode_body(body, data)


def _parsed(layout: Struct) -> Callable[[bytes], object]:
    return lambda data: parse(layout, data)

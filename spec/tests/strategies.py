"""Values near the boundaries of Java's types, and the things that are made of them."""

from __future__ import annotations

from hypothesis import strategies as st

from spec.host import Host
from spec.integers import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
from spec.store.message_record import MAGIC_V1, MAGIC_V2, Record, SystemFlag
from spec.wire.remoting.command import Command
from spec.wire.remoting.language import LanguageCode


def near(*boundaries: int, least: int, most: int) -> st.SearchStrategy[int]:
    """Integers around each boundary that lie in the range, or anywhere in it."""
    planted = {0, 1, least, most} | {b + d for b in boundaries for d in (-1, 0, 1)}
    inside = sorted({n for n in planted if least <= n <= most}, key=abs)
    return st.sampled_from(inside) | st.integers(least, most)


int16s = near(2**8, 2**15, least=-(2**15), most=2**15 - 1)
int32s = near(2**8, 2**16, 2**24, least=INT32_MIN, most=INT32_MAX)
int64s = near(2**31, 2**32, 2**53, least=INT64_MIN, most=INT64_MAX)

texts = st.text(st.characters(codec="utf-8"), max_size=20)
plain_texts = st.text(st.characters(codec="utf-8", exclude_characters="\x01\x02"))
bodies = st.binary(max_size=40) | st.sampled_from(
    [b"", b"\0" * 255, b"b" * 256, b"b" * 300]
)


def topics(limit: int = 127) -> st.SearchStrategy[str]:
    """Topics of up to *limit* bytes, the longest planted."""
    longest = st.sampled_from(["", "T", "T" * limit, "é" * (limit // 2)])
    return longest | texts


def hosts(*, v6: bool) -> st.SearchStrategy[Host]:
    """Hosts with an address of either width."""
    size = 16 if v6 else 4
    ports = near(10_911, least=0, most=65_535)
    return st.builds(Host, st.binary(min_size=size, max_size=size), ports)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Return records of both versions and all widths of hosts."""
    magic = draw(st.sampled_from([MAGIC_V1, MAGIC_V2]))
    flags = draw(int32s)
    return Record(
        topic=draw(topics(127 if magic == MAGIC_V1 else 300)),
        queue_id=draw(int32s),
        queue_offset=draw(int64s),
        physical_offset=draw(int64s),
        body=draw(bodies),
        properties=draw(st.sampled_from(["", "P" * 300]) | texts),
        flag=draw(int32s),
        system_flags=flags,
        born_at_ms=draw(int64s),
        born_host=draw(hosts(v6=bool(flags & SystemFlag.BORN_HOST_V6))),
        stored_at_ms=draw(int64s),
        store_host=draw(hosts(v6=bool(flags & SystemFlag.STORE_HOST_V6))),
        reconsume_times=draw(int32s),
        prepared_transaction_offset=draw(int64s),
        magic=magic,
    )


@st.composite
def commands(draw: st.DrawFn, serialize_type: int | None = None) -> Command:
    """Return commands in one notation, or in either."""
    notations = [0, 1] if serialize_type is None else [serialize_type]
    return Command(
        code=draw(int16s),
        opaque=draw(int32s),
        flag=draw(int32s),
        language=draw(st.sampled_from([code.name for code in LanguageCode])),
        version=draw(int16s),
        remark=draw(st.none() | texts.filter(bool)),
        fields=draw(st.dictionaries(texts, texts, max_size=4)),
        body=draw(bodies),
        serialize_type=draw(st.sampled_from(notations)),
    )


@st.composite
def mutated(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """Bytes of *whole* with a few changed, some cut off or some added."""
    data = bytearray(draw(whole))
    for _ in range(draw(st.integers(0, 4))):
        if data:
            place = draw(st.integers(0, min(len(data), 120) - 1))
            data[place] = draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
    cut = draw(st.integers(0, len(data)) | st.just(len(data)))
    return bytes(data[:cut]) + draw(st.sampled_from([b"", b"\0", b"more"]))


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """Bytes of *whole* after some accidents: other numbers, lost and doubled parts."""
    data = bytearray(draw(whole))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.sampled_from([1, 2, 4, 8, 20, 200])))
        accident = draw(st.sampled_from(["number", "byte", "loss", "double", "noise"]))
        if accident == "number":
            size = draw(st.sampled_from([1, 2, 4, 8]))
            number = draw(st.sampled_from([0, 1, -1, 2 ** (8 * size - 1) - 1, size]))
            data[at : at + size] = number.to_bytes(size, "big", signed=True)
        elif accident == "byte" and at < len(data):
            data[at] ^= draw(st.integers(1, 255))
        elif accident == "loss":
            del data[at:end]
        elif accident == "double":
            data[at:at] = data[at:end] * draw(st.sampled_from([1, 2, 50]))
        else:
            data[at:at] = draw(st.sampled_from(NOISE) | st.binary(max_size=9))
    return bytes(data)


NOISE = [
    *(b"{", b"[" * 70, b'"', b"}", b'{"', b"\xff\xfe", b"\\u", b"\\ud800", b"1e999"),
    *(b"-", b"\x01", b"\x02", b"null", b"NaN", b"9" * 400, b"\xed\xa0\x80"),
]
"""Inputs that break readers of text."""

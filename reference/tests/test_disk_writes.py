"""Small and large writes to a mapped file are the same bytes, however they are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.core.store.files import FilesError
from reference.shell.disk import DiskFiles

SIZE = 1 << 17
SIZES = st.one_of(st.integers(0, 64), st.integers((1 << 14) - 2, (1 << 14) + 70_000))
WRITES = st.lists(
    st.tuples(st.integers(0, SIZE), SIZES, st.integers(1, 255)), max_size=6
)


@given(writes=WRITES)
def test_what_is_written_is_seen_in_the_mapping_and_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[int, int, int]]
) -> None:
    folder: Path = tmp_path_factory.mktemp("disk")
    expected = bytearray(SIZE)
    file = DiskFiles(folder).open("large", SIZE)
    for at, size, byte in writes:
        data = bytes([byte]) * size
        if at + size > SIZE:
            with pytest.raises(FilesError, match="are not in large"):
                file.write(data, at)
            continue
        file.write(data, at)
        expected[at : at + size] = data
        assert file.view[at : at + size] == data
    assert bytes(file.view) == expected
    file.flush()
    file.close()
    assert (folder / "large").read_bytes() == expected

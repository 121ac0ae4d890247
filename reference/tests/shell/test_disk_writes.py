"""Small and large writes to a mapped file read back as written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference.core.store.mapped.files import FilesError
from reference.shell.storage.disk import DiskFiles
from reference.shell.storage.mapping import writable_map
from reference.tests.shell.failing_calls import open_count

SIZE = 1 << 17
SIZES = st.one_of(st.integers(0, 64), st.integers((1 << 14) - 2, (1 << 14) + 70_000))
WRITES = st.lists(
    st.tuples(st.integers(0, SIZE), SIZES, st.integers(1, 255)), max_size=6
)


@given(writes=WRITES)
@example([(SIZE, 0, 1)])
def test_a_write_is_in_the_mapping_and_in_the_file(
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


def test_allocation_keeps_the_content(
    tmp_path: Path,
) -> None:
    path = tmp_path / "old"
    before = bytearray(SIZE)
    before[70_000:70_005] = b"there"
    before[SIZE - 3 :] = b"end"
    path.write_bytes(before)
    file = DiskFiles(tmp_path).open("old", SIZE)
    file.write(b"new", 1 << 14)
    file.reserve(0, SIZE - 1)
    before[1 << 14 : (1 << 14) + 3] = b"new"
    assert bytes(file.view) == before
    file.flush()
    file.close()
    assert path.read_bytes() == before


def test_allocated_space_is_pages_of_zeros(tmp_path: Path) -> None:
    file = DiskFiles(tmp_path).open("fresh", SIZE)
    file.reserve(0, 2 * (1 << 14))
    with (tmp_path / "fresh").open("rb") as opened:
        # SEEK_DATA finds the parts that were written.
        assert os.lseek(opened.fileno(), 0, os.SEEK_DATA) == 0
        assert os.lseek(opened.fileno(), 0, os.SEEK_HOLE) == 3 * (1 << 14)
    assert not any(file.view)
    file.close()


def test_a_mapped_file_takes_one_descriptor(tmp_path: Path) -> None:
    """A store of ten thousand queues must fit into twenty thousand descriptors."""
    files, before = DiskFiles(tmp_path), open_count()
    mapped = [files.open(f"queue/{number}", SIZE) for number in range(8)]
    assert open_count() == before + len(mapped)
    for file in mapped:
        file.close()
    assert open_count() == before


def test_a_refused_mapping_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "read-only"
    path.write_bytes(bytes(SIZE))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(PermissionError):
            writable_map(descriptor, SIZE)
    finally:
        os.close(descriptor)

"""
Readers that Kaitai's compiler makes of the exported description read what we read:
bytes of real releases, and bytes drawn for every layout.
"""

from __future__ import annotations

import io
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from construct import Struct
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.interop.tools.kaitai import compiled_description
from conformance.strategies.layouts import bytes_of
from spec.layout import parse
from spec.layouts import LAYOUTS
from spec.store.commit_log import scan
from spec.wire.remoting.command import decode_command

FIXTURES = Path(__file__).parents[3] / "fixtures"
FRAMES = sorted((FIXTURES / "wire").glob("*/*.bin"))
LOGS = sorted((FIXTURES / "store").glob("*/commitlog/*"))
HEADER_START = 8


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Return the compiled Python module of the description."""
    return compiled_description(tmp_path_factory.mktemp("kaitai"))


def read(compiled: ModuleType, name: str, data: bytes) -> Any:
    """Return the object of Kaitai's reader of the layout *name* for *data*."""
    reader = "".join(word.capitalize() for word in name.split("_"))
    stream = compiled.KaitaiStream(io.BytesIO(data))
    return getattr(compiled.Rocketmq, reader)(stream)


def as_construct(found: Any, wanted: Any) -> Any:
    """Return an object of Kaitai in the form of construct's object."""
    if isinstance(wanted, dict):
        names = [name for name in wanted if name != "_io"]
        return {
            name: as_construct(getattr(found, name), wanted[name]) for name in names
        }
    if isinstance(found, Enum):
        return found.value
    return found.encode() if isinstance(found, str) else found


def assert_read_alike(compiled: ModuleType, name: str, data: bytes) -> None:
    """Check that both readers of the layout *name* find the same in *data*."""
    layout: Struct = LAYOUTS[name]
    wanted = parse(layout, data)
    found = as_construct(read(compiled, name, data), wanted)
    assert found == {one: value for one, value in wanted.items() if one != "_io"}


@pytest.mark.parametrize("name", sorted(LAYOUTS))
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_every_layout_is_read_alike(
    compiled: ModuleType, name: str, data: st.DataObject
) -> None:
    assert_read_alike(compiled, name, data.draw(bytes_of(LAYOUTS[name])))


def test_recorded_frames_and_headers_are_read_alike(compiled: ModuleType) -> None:
    assert len(FRAMES) > 100
    for path in FRAMES:
        data = path.read_bytes()
        assert_read_alike(compiled, "frame", data)
        if decode_command(data).serialize_type == 1:
            size = int.from_bytes(data[5:HEADER_START])
            header = data[HEADER_START : HEADER_START + size]
            assert_read_alike(compiled, "header_rocketmq", header)


def test_recorded_messages_are_read_alike(compiled: ModuleType) -> None:
    count = 0
    for path in LOGS:
        data = path.read_bytes()
        for found in scan(data, int(path.name)).records:
            start = found.offset - int(path.name)
            record = data[start : start + found.size]
            assert_read_alike(compiled, "message_record", record)
            count += 1
    assert count > 500

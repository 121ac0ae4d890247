"""The vectors in fixtures/vectors are those of the declarations, and hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spec.layout import LayoutError
from spec.store.message_record import decode_record
from spec.vectors import vectors
from spec.wire.command import decode_command
from spec.wire.message_id import decode_message_id

FOLDER = Path(__file__).parents[2] / "fixtures" / "vectors"


@pytest.mark.parametrize("name", sorted(vectors()))
def test_the_vectors_are_what_they_were(name: str) -> None:
    kept = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert kept == json.loads(json.dumps(vectors()[name]))


def test_every_file_of_vectors_is_known() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(vectors())


def test_what_the_vectors_call_refused_is_refused() -> None:
    made = vectors()
    for one in made["frames"]:
        if "refused" in one:
            with pytest.raises(LayoutError):
                decode_command(bytes.fromhex(one["bytes"]))
        else:
            assert decode_command(bytes.fromhex(one["bytes"])).code is not None
    for one in made["records"]:
        if "refused" in one:
            with pytest.raises(LayoutError):
                decode_record(bytes.fromhex(one["bytes"]))
    for one in made["ids"]:
        if "refused" in one:
            with pytest.raises(LayoutError):
                decode_message_id(one["text"])

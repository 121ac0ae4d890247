"""The vectors in fixtures/vectors fit their schema, are up to date, and hold."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import asdict

from spec.integers import body_crc, java_string_hash
from spec.layout import LayoutError
from spec.registry import all_clauses
from spec.security.signature import content_of, sign
from spec.store.batch_queue import decode_batch_unit
from spec.store.blank import decode_blank
from spec.store.checkpoint import decode_checkpoint
from spec.store.consume_queue import decode_unit
from spec.store.file_names import file_name
from spec.store.index_file import decode_header, decode_item, key_hash
from spec.store.message_record import decode_record
from spec.store.queue_extension import decode_extension_unit
from spec.store.timer.timer_log import decode_timer_unit
from spec.vectors import vectors
from spec.vectors.form import plain, values_of
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import decode_properties
from spec.wire.message.unique_key import decode_unique_key
from spec.wire.remoting.command import decode_command
from spec.wire.remoting.header_json import decode_json_header
from spec.wire.remoting.header_rocketmq import decode_rocketmq_header
from spec.wire.send.batch_body import decode_batch

FIXTURES = Path(__file__).parents[3] / "fixtures"
FOLDER = FIXTURES / "vectors"
FILES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.json"))
}
SCHEMA = FILES.pop("schema")

Test = dict[str, Any]


def each_test(file: dict[str, Any]) -> Iterator[tuple[str, Test]]:
    """Yield the type and the members of every test of *file*."""
    for group in file["testGroups"]:
        for one in group["tests"]:
            yield group["type"], one


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", FILES)
def test_a_file_fits_the_schema(name: str) -> None:
    errors = Draft202012Validator(SCHEMA).iter_errors(FILES[name])
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


def test_the_files_are_what_the_declarations_and_recordings_make() -> None:
    script = FIXTURES / "record" / "vectors.py"
    found = importlib.util.spec_from_file_location("record_vectors", script)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    made = vectors(module.recorded())
    assert set(made) == set(FILES)
    for name, file in made.items():
        assert json.loads(json.dumps(file)) == FILES[name], (
            f"python -m fixtures.record.vectors writes fixtures/vectors/{name}.json"
        )


@pytest.mark.parametrize("name", FILES)
def test_tests_are_numbered_and_their_flags_explained(name: str) -> None:
    tests = [one for _, one in each_test(FILES[name])]
    assert [one["tcId"] for one in tests] == list(range(1, len(tests) + 1))
    assert FILES[name]["numberOfTests"] == len(tests)
    explained = set(FILES[name]["notes"])
    assert all(set(one["flags"]) <= explained for one in tests)


@pytest.mark.parametrize("name", FILES)
def test_flags_name_clauses_that_are_declared(name: str) -> None:
    notes = FILES[name]["notes"].values()
    assert {clause for note in notes for clause in note["clauses"]} <= set(
        all_clauses()
    )


def message_id(text: str) -> dict[str, str]:
    """Return the values of a message id."""
    host, offset = decode_message_id(text)
    return {"host": str(host), "commit_log_offset": str(offset)}


READERS: dict[str, Callable[[bytes], Any]] = {
    "frame": lambda data: values_of(decode_command(data)),
    "header_json": lambda data: asdict(decode_json_header(data)),
    "header_rocketmq": decode_rocketmq_header,
    "batch": lambda data: {"messages": [values_of(m) for m in decode_batch(data)]},
    "record": lambda data: (
        values_of(decode_record(data)) | {"body_crc": int.from_bytes(data[8:12])}
    ),
    "blank": lambda data: values_of(decode_blank(data)),
    "unit": lambda data: values_of(decode_unit(data)),
    "batch_unit": lambda data: values_of(decode_batch_unit(data)),
    "extension_unit": lambda data: values_of(decode_extension_unit(data)),
    "timer_unit": lambda data: values_of(decode_timer_unit(data)),
    "index_item": lambda data: values_of(decode_item(data)),
    "index_file": lambda data: values_of(decode_header(data)),
    "checkpoint": lambda data: values_of(decode_checkpoint(data)),
}
TEXT_READERS: dict[str, Callable[[str], Any]] = {
    "message_id": message_id,
    "unique_key": lambda text: values_of(decode_unique_key(text)),
    "properties": decode_properties,
}
COMPUTED: dict[str, Callable[[Test], bool]] = {
    "tags_code": lambda one: java_string_hash(one["text"]) == one["hash"],
    "key_hash": lambda one: key_hash(one["topic"], one["key"]) == one["hash"],
    "body_crc": lambda one: body_crc(bytes.fromhex(one["bytes"])) == one["crc"],
    "signature": lambda one: (
        (
            content_of(one["values"], bytes.fromhex(one["bytes"])).hex(),
            sign(bytes.fromhex(one["content"]), one["secret"]),
        )
        == (one["content"], one["signature"])
    ),
    "file_name": lambda one: file_name(int(one["offset"])) == one["name"],
}


def read(kind: str, one: Test) -> Any:
    """Return the values that our reader of *kind* finds in a test."""
    if kind in TEXT_READERS:
        return plain(TEXT_READERS[kind](one["text"]))
    return plain(READERS[kind](bytes.fromhex(one["bytes"])))


def wanted(kind: str, one: Test) -> Any:
    """Return the values of a test that the reader of *kind* returns too."""
    values = dict(one["values"])
    values.pop("safe_ms", None)
    return values["header"] if kind == "index_file" else values


@pytest.mark.parametrize("name", FILES)
def test_the_readers_find_what_the_vectors_say(name: str) -> None:
    for kind, one in each_test(FILES[name]):
        if kind in COMPUTED:
            assert COMPUTED[kind](one), one["comment"]
        elif one["result"] == "invalid":
            with pytest.raises(LayoutError):
                read(kind, one)
        else:
            assert read(kind, one) == wanted(kind, one), one["comment"]


def test_the_vectors_have_what_is_hard() -> None:
    records = [
        one["values"] for _, one in each_test(FILES["records"]) if "values" in one
    ]
    records = [one for one in records if "topic" in one]
    assert {len(one["topic"]) for one in records} >= {127, 128, 255}
    assert any(one["body"] and one["body_crc"] == 0 for one in records)
    assert any(len(one["properties"].encode()) == 32_767 for one in records)
    bits = {1 << bit for bit in range(31)} | {-(2**31)}
    assert {one["system_flags"] for one in records} >= bits
    assert {one["born_host"][0] for one in records} >= {"1", "["}
    compressed = {
        one["system_flags"] >> 8 & 7 for one in records if one["system_flags"] & 1
    }
    assert compressed >= {0, 1, 2, 3}

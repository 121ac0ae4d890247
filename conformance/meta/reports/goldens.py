"""
Failures of every kind, made on purpose, and their texts as golden files.

``python -m conformance.meta.reports.goldens`` writes ``fixtures/failures/`` anew; the
diff is what readers of failures will see change.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

from conformance.harness.client.peer_errors import NoResponseError
from conformance.harness.client.tamper import set_field, set_header_length
from conformance.harness.client.transcript import Direction, Entry, Transcript
from conformance.harness.failure.failure import ConformanceFailure, Evidence
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.verdicts.verdict import as_failure
from conformance.harness.targets.started.embedded import SOURCES
from spec.integers import body_crc
from spec.store.consume_queue import Unit, encode_unit, unit_layout
from spec.store.message_record import Record, encode_record, record_layout
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.frame import frame_layout
from spec.wire.remoting.request_code import RequestCode

FOLDER = SOURCES / "fixtures" / "failures"

QUESTION = Command(
    code=RequestCode.GET_MAX_OFFSET,
    opaque=7,
    fields={"topic": "TopicTest", "queueId": "3"},
)


def conversation(*said: tuple[Direction, bytes]) -> Transcript:
    """Return a transcript in which every frame takes a millisecond."""
    transcript = Transcript("127.0.0.1:10911")
    for at_ms, (direction, data) in enumerate(said):
        transcript.add(Entry(direction=direction, at_ms=at_ms, data=data))
    return transcript


def answered(**response: object) -> Transcript:
    """Return a transcript of the question and this response."""
    values: dict[str, object] = {"code": 0, "opaque": 7, "flag": 1}
    command = Command(**{**values, **response})  # type: ignore[arg-type] # by name
    return conversation(
        (Direction.SENT, encode_command(QUESTION)),
        (Direction.RECEIVED, encode_command(command)),
    )


def opaque_not_echoed() -> None:
    """Show a response with the opaque of another request."""
    expect(
        "WIRE-COMMAND-003",
        found=8,
        expected=7,
        what="opaque",
        transcript=answered(opaque=8, fields={"offset": "0"}),
    )


def header_length_from_8_bits() -> None:
    """Show a header size of which one byte was written."""
    frame = encode_command(Command(code=0, opaque=7, flag=1, remark="r" * 220))
    corrupted = set_header_length(frame, int.from_bytes(frame[5:8], "big") % 256)
    expect(
        "WIRE-FRAME-002",
        found=int.from_bytes(corrupted[5:8], "big"),
        expected=int.from_bytes(frame[5:8], "big"),
        what="header_size",
        sent="GET_MAX_OFFSET, opaque 7",
        evidence=Evidence(layout=frame_layout, data=corrupted, wrong="header_size"),
    )


def checksum_not_masked() -> None:
    """Show a record whose checksum has the sign bit."""
    record = Record(topic="TopicTest", queue_id=3, queue_offset=0, physical_offset=0)
    record = replace(record, body=b"a")
    checksum = zlib.crc32(record.body)
    data = set_field(record_layout, encode_record(record), "body_crc", checksum)
    expect(
        "STORE-CRC-001",
        found=f"{checksum:#010x}",
        expected=f"{body_crc(record.body):#010x}",
        what="body_crc",
        sent="a message with the body a",
        evidence=Evidence(layout=record_layout, data=data, wrong="body_crc"),
    )


def unit_size_wrong() -> None:
    """Show a unit, somewhere in its file, with another size."""
    unit = encode_unit(Unit(commit_log_offset=4096, size=133, tags_code=65))
    expect(
        "STORE-QUEUE-003",
        found=133,
        expected=137,
        what="size of unit 12",
        evidence=Evidence(layout=unit_layout, data=unit, wrong="size", base=240),
    )


def several_fields_wrong() -> None:
    """Show a response with two wrong fields."""
    fields = {"minOffset": "0", "maxOffset": "3", "nextBeginOffset": "0"}
    expect_fields(
        "PULL-FOUND-003",
        found=fields,
        expected={"minOffset": "0", "maxOffset": "4", "nextBeginOffset": "4"},
        transcript=answered(fields=fields, remark="FOUND"),
    )


def success_for_an_unknown_topic() -> None:
    """Show a success for an unknown topic."""
    expect_that(
        "ROUTE-DATA-003",
        False,
        found=0,
        expected="17, TOPIC_NOT_EXIST",
        what="code",
        transcript=answered(body=b'{"brokerDatas":[],"queueDatas":[]}'),
    )


def no_response() -> None:
    """Show a silent peer."""
    transcript = conversation((Direction.SENT, encode_command(QUESTION)))
    silence = NoResponseError(
        "waited for a response with opaque 7, none came", transcript
    )
    failure = as_failure(silence, ["WIRE-COMMAND-003"])
    assert failure is not None
    raise failure


FAILURES: dict[str, Callable[[], None]] = {
    made.__name__: made
    for made in (
        opaque_not_echoed,
        header_length_from_8_bits,
        checksum_not_masked,
        unit_size_wrong,
        several_fields_wrong,
        success_for_an_unknown_topic,
        no_response,
    )
}


def text_of(name: str) -> str:
    """Return the text of the failure *name*."""
    try:
        FAILURES[name]()
    except ConformanceFailure as failure:
        return f"{failure}\n"
    raise AssertionError(f"{name} did not fail")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for failure_name in FAILURES:
        file = FOLDER / f"{failure_name}.txt"
        file.write_text(text_of(failure_name), encoding="utf-8")

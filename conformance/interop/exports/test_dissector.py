"""
The exported dissector in tshark shows the frames that were sent.

The captures are of real Java programs, and of recorded frames that are split and joined
in ways that do not occur on one machine.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from conformance.interop.tools.capture_file import Conversation, write_capture
from conformance.interop.tools.tshark import NoTsharkError, Tshark
from spec.store.message_record import Record, decode_records
from spec.wire.message.properties import Property, decode_properties
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.frame import Frame, encode_frame
from spec.wire.remoting.header_rocketmq import encode_entries
from spec.wire.remoting.request_code import RequestCode, request_name
from spec.wire.remoting.response_code import ResponseCode, response_name

WIRE = Path(__file__).parents[3] / "fixtures" / "wire"
CAPTURES = sorted((WIRE / "4.6.0-capture").glob("*.pcap"))
RECORDED = sorted({path.parent for path in WIRE.glob("*-*/*.request.bin")})
BROKER_PORT = 10_911
COMMAND_FIELDS = (
    *("rocketmq.code", "rocketmq.code.name", "rocketmq.opaque", "rocketmq.flag"),
    *("rocketmq.language", "rocketmq.version", "rocketmq.remark"),
)
RECORD_FIELDS = {
    f"rocketmq.message_record.{name}": name
    for name in (
        *("queue_id", "queue_offset", "physical_offset", "system_flags", "flag"),
        *("born_at_ms", "stored_at_ms", "reconsume_times", "topic"),
    )
}


@pytest.fixture(scope="module")
def tshark(tmp_path_factory: pytest.TempPathFactory) -> Tshark:
    """Return tshark; every test fails without it."""
    try:
        return Tshark.with_exported_script(tmp_path_factory.mktemp("dissector"))
    except NoTsharkError as error:
        pytest.fail(str(error), pytrace=False)


def described(command: Command) -> list[str]:
    """Return the expected output of tshark for *command*, by field."""
    name = (response_name if command.is_response else request_name)(command.code)
    shown = [command.code, name, command.opaque, command.flag]
    remark = (command.remark or "").replace("\n", "\\n")  # as tshark escapes it
    shown += [command.language, command.version, remark]
    return [str(value) for value in shown]


def shown_commands(tshark: Tshark, capture: Path) -> list[list[str]]:
    """Return the output of tshark for each packet with one command."""
    rows = tshark.rows(capture, COMMAND_FIELDS, only="rocketmq")
    return [[(row[name] or [""])[0] for name in COMMAND_FIELDS] for row in rows]


def sent_frames(tshark: Tshark, capture: Path) -> list[bytes]:
    """Return the frames of *capture*, cut from TCP's bytes without the dissector."""
    names = ("tcp.stream", "tcp.srcport", "tcp.payload")
    ended: list[bytes] = []
    begun: dict[tuple[str, str], bytes] = {}
    for row in tshark.rows(capture, names, only="tcp.len > 0"):
        stream, port, payload = (row[name][0] for name in names)
        data = begun.get((stream, port), b"") + bytes.fromhex(payload)
        while len(data) >= 4 and len(data) >= (size := 4 + int.from_bytes(data[:4])):
            ended.append(data[:size])
            data = data[size:]
        begun[stream, port] = data
    assert not any(begun.values()), "a capture ends with whole frames"
    return ended


def assert_nothing_malformed(tshark: Tshark, capture: Path) -> None:
    """Check that neither the dissector nor Wireshark found anything wrong."""
    wrong = "rocketmq.malformed || _ws.malformed || _ws.lua.error"
    assert tshark.rows(capture, ["frame.number"], only=wrong) == []


@pytest.fixture(params=CAPTURES, ids=lambda path: path.stem, scope="module")
def capture(request: pytest.FixtureRequest) -> Path:
    """Return a capture of mqadmin with a real cluster, on unregistered ports."""
    path = request.param
    assert isinstance(path, Path)
    return path


def test_every_captured_command_is_shown_as_it_was_sent(
    tshark: Tshark, capture: Path
) -> None:
    commands = [decode_command(data) for data in sent_frames(tshark, capture)]
    assert len(commands) >= 60
    assert shown_commands(tshark, capture) == [described(one) for one in commands]
    assert_nothing_malformed(tshark, capture)


def test_every_captured_answer_is_matched_with_its_request(
    tshark: Tshark, capture: Path
) -> None:
    names = ("frame.number", "rocketmq.response_in", "rocketmq.request_in")
    rows = tshark.rows(capture, names, only="rocketmq")
    requests = {r[names[0]][0]: r[names[1]][0] for r in rows if r[names[1]]}
    responses = {r[names[2]][0]: r[names[0]][0] for r in rows if r[names[2]]}
    assert requests == responses
    oneways = tshark.rows(capture, names, only="rocketmq.flag.oneway == true")
    assert 2 * len(requests) + len(oneways) == len(rows)


def test_the_records_of_a_captured_pull_are_shown(
    tshark: Tshark, capture: Path
) -> None:
    names = ("rocketmq.message_record.body", "rocketmq.property.KEYS")
    rows = tshark.rows(capture, names, only="rocketmq.message_record.topic")
    bodies = [bytes.fromhex(body) for row in rows for body in row[names[0]]]
    keys = [key for row in rows for key in row[names[1]]]
    assert bodies == [b"first", b"second", b"second"]
    assert keys == ["order-1", "order-2", "order-2"]


def test_letters_of_a_captured_send_are_spelt_out(
    tshark: Tshark, capture: Path
) -> None:
    names = ("rocketmq.field.topic", "rocketmq.field.defaultTopicQueueNums")
    only = 'rocketmq.code.name == "SEND_MESSAGE_V2"'
    rows = tshark.rows(capture, names, only=only)
    assert [row[names[0]] for row in rows] == [["CaptureTopic"], ["CaptureTopic"]]
    assert all(row[names[1]] == ["4"] for row in rows)


def pairs(folder: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield each recorded answer after its request, the opaques made equal."""
    for number, path in enumerate(sorted(folder.glob("*.answer-*.bin"))):
        request = folder / f"{path.name.split('.')[0]}.request.bin"
        yield _numbered(request, number), _numbered(path, number)


def _numbered(path: Path, number: int) -> bytes:
    """Return the frame in *path* with *number* for its opaque, else as recorded."""
    data = path.read_bytes()
    size = int.from_bytes(data[5:8])
    header, body = data[8 : 8 + size], data[8 + size :]
    opaque = decode_command(data).opaque
    if data[4] == 1:
        header = header[:5] + number.to_bytes(4, "big") + header[9:]
    else:
        old, new = f'"opaque":{opaque},', f'"opaque":{number},'
        header = header.replace(old.encode(), new.encode(), 1)
    frame = bytes([data[4]]) + len(header).to_bytes(3, "big") + header + body
    return len(frame).to_bytes(4, "big") + frame


def described_record(record: Record) -> list[str]:
    """Return the expected output of tshark for *record*."""
    return [str(getattr(record, name)) for name in RECORD_FIELDS.values()]


@pytest.mark.parametrize("folder", RECORDED, ids=lambda path: path.name)
def test_recorded_frames_are_shown_however_tcp_cuts_them(
    tshark: Tshark, folder: Path, tmp_path: Path
) -> None:
    exchange = list(pairs(folder))
    talk = Conversation(50_001, BROKER_PORT)
    for request, response in exchange:
        talk.client_sends(request, cuts=(1, 3, 5, len(request) - 1))
        talk.server_sends(response, cuts=(len(response) // 2,))
    capture = tmp_path / "cut.pcap"
    write_capture(capture, talk.packets)
    commands = [decode_command(data) for pair in exchange for data in pair]
    assert shown_commands(tshark, capture) == [described(one) for one in commands]
    assert_nothing_malformed(tshark, capture)

    rows = tshark.rows(capture, list(RECORD_FIELDS), only="rocketmq.message_record")
    shown = [list(values) for row in rows for values in zip(*row.values(), strict=True)]
    assert shown == [
        described_record(record)
        for request, response in pairwise(commands)
        if request.code == RequestCode.PULL_MESSAGE and not request.is_response
        for record in (decode_records(response.body) if response.code == 0 else ())
    ]


def test_frames_joined_in_one_segment_are_all_shown(
    tshark: Tshark, tmp_path: Path
) -> None:
    exchange = list(pairs(RECORDED[0]))
    talk = Conversation(50_002, BROKER_PORT)
    talk.client_sends(b"".join(request for request, _ in exchange))
    talk.server_sends(b"".join(response for _, response in reversed(exchange)))
    write_capture(tmp_path / "joined.pcap", talk.packets)
    names = ("rocketmq.opaque", "rocketmq.request_in", "rocketmq.response_in")
    rows = tshark.rows(tmp_path / "joined.pcap", names, only="rocketmq")
    opaques = [value for row in rows for value in row[names[0]]]
    count = len(exchange)
    assert opaques == [str(n) for n in [*range(count), *reversed(range(count))]]
    assert sum(len(row[names[1]]) for row in rows) == count
    assert sum(len(row[names[2]]) for row in rows) == count


ODD_FIELDS = {
    "topic": 'q"uo\\te',
    "mine": "\t中文😀",
    "empty": "",
    "properties": "KEYS\x01a b\x02é\x01v",
}


@pytest.mark.parametrize("serialize_type", [0, 1])
def test_values_are_shown_whatever_is_in_them(
    tshark: Tshark, tmp_path: Path, serialize_type: int
) -> None:
    command = Command(
        RequestCode.GET_ROUTEINFO_BY_TOPIC,
        opaque=-1,
        flag=2,
        remark="\u00e9\n",
        fields=ODD_FIELDS,
        serialize_type=serialize_type,
    )
    talk = Conversation(50_003, BROKER_PORT)
    talk.client_sends(encode_command(command))
    write_capture(tmp_path / "odd.pcap", talk.packets)
    assert_nothing_malformed(tshark, tmp_path / "odd.pcap")
    (tree,) = tshark.trees(tmp_path / "odd.pcap", only="rocketmq")
    shown = tree["rocketmq"]
    assert isinstance(shown, dict)
    assert shown["rocketmq.opaque"] == "-1"
    assert shown["rocketmq.remark"] == command.remark
    assert shown["rocketmq.field.topic"] == ODD_FIELDS["topic"]
    assert shown["rocketmq.field"] == [
        f"{name}: {ODD_FIELDS[name]}" for name in ("mine", "empty")
    ]


WHOLE = encode_command(Command(105, fields={"topic": "T"}))
HEADER = bytes(17) + (7).to_bytes(4, "big") + encode_entries({"a": "b"})[:-1]
BROKEN = {
    "header_past_end": WHOLE[:5] + b"\xff" + WHOLE[6:],
    "unknown_notation": WHOLE[:4] + b"\2" + WHOLE[5:],
    "no_json": WHOLE[:8] + b"!" + WHOLE[9:],
    "cut_json": WHOLE[:5] + b"\0\0\x20" + WHOLE[8:],
    "size_below_4": b"\0\0\0\1" + WHOLE[4:],
    "size_negative": b"\xff" * 4 + WHOLE[4:],
    "entry_past_end": encode_frame(Frame(serialize_type=1, header=HEADER)),
}


def test_what_is_no_command_is_said_to_be_malformed(
    tshark: Tshark, tmp_path: Path
) -> None:
    packets = []
    for port, data in enumerate(BROKEN.values(), start=51_000):
        talk = Conversation(port, BROKER_PORT)
        talk.client_sends(data)
        packets += talk.packets
    write_capture(tmp_path / "broken.pcap", packets)
    only = "rocketmq.malformed && !_ws.lua.error"
    rows = tshark.rows(tmp_path / "broken.pcap", ["tcp.srcport"], only=only)
    found = {int(row["tcp.srcport"][0]) - 51_000 for row in rows}
    assert [name for i, name in enumerate(BROKEN) if i not in found] == []


def corrupted(data: bytes, chance: random.Random) -> bytes:
    """Return *data* with some bytes changed, dropped or repeated."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(8, len(changed))
        match chance.randrange(3):
            case 0:
                changed[place] = chance.choice((0, 0x7F, 0x80, 0xFF, 0x22, 0x5C))
            case 1:
                del changed[place : place + chance.randint(1, 8)]
            case _:
                changed[place:place] = changed[place - 8 : place]
    return (len(changed) - 4).to_bytes(4, "big") + changed[4:]


def test_corrupted_frames_are_shown_or_said_to_be_malformed(
    tshark: Tshark, tmp_path: Path
) -> None:
    chance = random.Random(20_261_121)  # noqa: S311 - chance that repeats itself
    samples = [path.read_bytes() for path in sorted(RECORDED[0].parent.glob("*/*.bin"))]
    packets = []
    for port in range(20_000, 20_600):
        talk = Conversation(port, BROKER_PORT)
        frame = chance.choice([one for one in samples if len(one) < 9_000])
        talk.client_sends(corrupted(frame, chance))
        packets += talk.packets
    capture = tmp_path / "corrupted.pcap"
    write_capture(capture, packets)
    assert tshark.rows(capture, ["tcp.stream"], only="_ws.lua.error") == []
    rows = tshark.rows(capture, ["_ws.expert.message"], only="rocketmq.malformed")
    printed = [text for row in rows for text in row["_ws.expert.message"]]
    assert len(printed) > 50
    assert [text for text in printed if ".lua:" in text] == [], (
        "the script failed itself"
    )


def test_names_of_answers_and_properties_are_the_specification_s(
    tshark: Tshark, tmp_path: Path
) -> None:
    record = (RECORDED[0] / "pull_message.answer-0.bin").read_bytes()
    talk = Conversation(50_005, BROKER_PORT)
    talk.server_sends(record)
    write_capture(tmp_path / "half.pcap", talk.packets)
    names = ("rocketmq.code.name", f"rocketmq.property.{Property.UNIQ_KEY}")
    (row,) = tshark.rows(tmp_path / "half.pcap", names, only="rocketmq")
    records = list(decode_records(decode_command(record).body))
    assert row[names[0]] == [ResponseCode.SUCCESS.name]
    assert row[names[1]] == [
        decode_properties(one.properties)[Property.UNIQ_KEY] for one in records
    ]

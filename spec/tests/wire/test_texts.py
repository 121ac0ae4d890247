"""Properties, ids and headers: the texts that clients and brokers exchange."""

from __future__ import annotations

import pytest

from spec.host import Host
from spec.layout import LayoutError
from spec.wire.message.message_id import decode_message_id, encode_message_id
from spec.wire.message.properties import (
    Property,
    decode_properties,
    encode_properties,
    keys_of,
)
from spec.wire.message.property_names import PROPERTY_NAMES, reserved_names
from spec.wire.message.unique_key import decode_unique_key
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.frame import FRAME_SIZE_MAX, Frame, decode_frame, encode_frame
from spec.wire.remoting.header_json import decode_json_header
from spec.wire.remoting.header_rocketmq import decode_entries
from spec.wire.remoting.language import LanguageCode, language_code, language_name
from spec.wire.remoting.request_code import RequestCode, request_name
from spec.wire.remoting.response_code import ResponseCode, response_name

PROPERTIES = [
    ("", {}),
    ("a\x01b\x02", {"a": "b"}),
    ("a\x01b", {"a": "b"}),
    ("a\x01b\x02\x02c\x01d", {"a": "b", "c": "d"}),
    ("a\x02b\x01\x02c\x01d\x02", {"c": "d"}),
    ("a\x01b\x01c\x02d\x01e", {"d": "e"}),
    ("a\x01b\x01\x02", {"a": "b"}),
    ("\x01b\x02", {"": "b"}),
    ("a\x01b\x02a\x01c", {"a": "c"}),
]
NO_ID = ["", "7F", "7F0000013D0C18B4AAC25D2A3F5E000", "G" * 32, "0" * 34, "٣" * 32]


@pytest.mark.parametrize(("text", "found"), PROPERTIES)
def test_properties_are_read_as_4_6_0_reads_them(
    text: str, found: dict[str, str]
) -> None:
    assert decode_properties(text) == found


SINCE_4_9_1 = [
    ("a\x01b\x02\x01c\x02", {"a": "b"}),
    ("a\x01b\x01c\x02d\x01\x02", {"a": "b\x01c"}),
    ("a\x01b\x01\x02", {"a": "b\x01"}),
]


@pytest.mark.parametrize(("text", "found"), SINCE_4_9_1)
def test_properties_are_read_as_4_9_1_reads_them(
    text: str, found: dict[str, str]
) -> None:
    assert decode_properties(text, splits_once=True) == found


@pytest.mark.parametrize("bad", [{"a\x01": "b"}, {"a": "b\x02"}])
def test_a_separator_cannot_be_written(bad: dict[str, str]) -> None:
    with pytest.raises(LayoutError):
        encode_properties(bad)


def test_keys_stand_between_spaces() -> None:
    assert keys_of({"KEYS": " a  b "}) == ["a", "b"]
    assert keys_of({}) == []


def test_a_message_id_is_host_port_and_offset_in_upper_case_hex() -> None:
    text = encode_message_id(Host.of("127.0.0.1", 10_911), 4321)
    assert text == "7F00000100002A9F00000000000010E1"
    assert str(decode_message_id(text)[0]) == "127.0.0.1:10911"


@pytest.mark.parametrize("text", NO_ID)
def test_what_is_no_id_is_a_layout_error(text: str) -> None:
    with pytest.raises(LayoutError):
        decode_message_id(text)
    with pytest.raises(LayoutError):
        decode_unique_key(text)


def test_a_message_id_with_a_port_that_is_none_is_a_layout_error() -> None:
    with pytest.raises(LayoutError, match="port"):
        decode_message_id("7F000001FFFFFFFF0000000000000000")


def test_a_frame_as_large_as_allowed_is_read_and_one_byte_more_is_not() -> None:
    body = bytes(FRAME_SIZE_MAX - 8)
    assert decode_frame(encode_frame(Frame(header=b"", body=body))).body == body
    with pytest.raises(LayoutError, match="limit"):
        decode_frame(encode_frame(Frame(header=b"", body=body + b"x")))


@pytest.mark.parametrize("size", [-1, 0, 3, -(2**31)])
def test_a_size_word_that_no_frame_has_is_a_layout_error(size: int) -> None:
    data = size.to_bytes(4, "big", signed=True) + bytes(4)
    with pytest.raises(LayoutError):
        decode_frame(data)


def test_a_header_that_reaches_past_its_frame_is_a_layout_error() -> None:
    data = bytes([0, 0, 0, 6, 0, 0, 0, 3, ord("{"), ord("}")])
    with pytest.raises(LayoutError) as caught:
        decode_frame(data)
    assert caught.value.field == "header"


def test_a_header_of_unknown_notation_is_a_layout_error() -> None:
    with pytest.raises(LayoutError, match="notation"):
        decode_command(encode_frame(Frame(serialize_type=2, header=b"{}")))


def test_a_json_header_may_leave_everything_out() -> None:
    assert decode_command(encode_frame(Frame(header=b"{}"))) == Command(
        0, language="JAVA", version=0
    )


@pytest.mark.parametrize(
    "header",
    [b"", b"[]", b"1", b'{"code":"x"}', b'{"opaque":2147483648}', b'{"extFields":[]}'],
)
def test_a_json_header_that_is_none_is_a_layout_error(header: bytes) -> None:
    with pytest.raises(LayoutError):
        decode_json_header(header)


def test_a_json_header_without_a_language_is_java_s() -> None:
    for header in (b"{}", b'{"language":""}', b'{"language":null}'):
        assert decode_json_header(header).language == "JAVA"


@pytest.mark.parametrize("depth", [2_000, 200_000])
def test_a_deep_json_header_is_a_layout_error(depth: int) -> None:
    with pytest.raises(LayoutError):
        decode_json_header(b'{"a":' + b"[" * depth)


def test_ext_fields_become_strings_and_nulls_are_left_out() -> None:
    header = b'{"extFields":{"a":1,"b":true,"c":null,"d":"x","e":[1]}}'
    fields = decode_json_header(header).fields
    assert fields == {"a": "1", "b": "true", "d": "x", "e": "[1]"}


def test_entries_that_end_early_are_a_layout_error() -> None:
    with pytest.raises(LayoutError):
        decode_entries(b"\0\1a\0\0\0\2x")


def test_a_code_that_is_no_short_does_not_fit_a_binary_header() -> None:
    with pytest.raises(LayoutError):
        encode_command(Command(200_050, serialize_type=1))


def test_unknown_languages_survive_a_binary_header() -> None:
    assert language_code(language_name(200)) == 200
    assert language_code("JAVA") == LanguageCode.JAVA
    with pytest.raises(LayoutError):
        language_code("KLINGON")


def test_codes_have_the_names_that_java_gives_them() -> None:
    assert request_name(310) == "SEND_MESSAGE_V2"
    assert response_name(17) == "TOPIC_NOT_EXIST"
    assert request_name(-7) == "-7"
    assert request_name(RequestCode.GET_ROUTEINTO_BY_TOPIC) == "GET_ROUTEINFO_BY_TOPIC"
    assert RequestCode.POP_MESSAGE.since == "5.0"
    assert ResponseCode(0).since == "4.4"


def test_every_property_that_is_named_is_explained() -> None:
    assert {str(name) for name in Property} <= set(PROPERTY_NAMES)
    assert all(one.meaning for one in PROPERTY_NAMES.values())


@pytest.mark.parametrize(
    ("release", "count"), [("4.4.0", 22), ("4.6.0", 30), ("4.9.7", 31)]
)
def test_a_releases_client_reserves_as_many_names(release: str, count: int) -> None:
    assert len(reserved_names(release)) == count


def test_newer_clients_reserve_more_names() -> None:
    assert len(reserved_names("5.3.3")) == 51
    assert "TIMER_DELIVER_MS" in reserved_names("5.3.3") - reserved_names("4.9.7")

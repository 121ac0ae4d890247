"""fastjson's liberties are read; its way of writing maps is kept."""

from __future__ import annotations

import pytest

from spec.layout import LayoutError
from spec.wire.bodies import fastjson

READ = [
    ('{0:"127.0.0.1:10911",1:"b"}', {0: "127.0.0.1:10911", 1: "b"}),
    ('{-1:{},"0":[]}', {-1: {}, "0": []}),
    ("{name:'it\\'s',_a$b:1}", {"name": "it's", "_a$b": 1}),
    ('{{"t":"T","q":0}:{"o":5}}', {(("q", 0), ("t", "T")): {"o": 5}}),
    ('{{"a":[{"b":1}]}:2}', {(("a", ((("b", 1),),)),): 2}),
    (' { "a" : [ 1 , 2.5e1 , -0 ] } ', {"a": [1, 25.0, 0]}),
    ('"\\u00e9\\n\\/\\v"', "é\n/\v"),
    ("[true,false,null]", [True, False, None]),
    ('{"a":1,"a":2}', {"a": 2}),
    ("{1.5:0}", {"1.5": 0}),
    ('\ufeff{"a":{0:1,},\n}', {"a": {0: 1}}),
    ('// 1\n{"a":/* { */1, // 2\n"b":2}/**/', {"a": 1, "b": 2}),
    ('{"a":1}\n\0\0\n', {"a": 1}),
]
GARBAGE = {
    "nothing": "",
    "white space": " \n",
    "an object without an end": '{"a":1',
    "an array without an end": "[1",
    "a string without an end": '"abc',
    "an escape without an end": '"\\u12',
    "an unknown escape": '"\\x41"',
    "two values": "1 2",
    "a key without a value": '{"a"}',
    "a word that is no value": "nil",
    "a number that is none": "--1",
    "a number with a leading zero": "{00:1}",
    "not a number": '{"a":NaN}',
    "infinity": "[-Infinity]",
    "a number without an end": "1.",
    "a very long number": "9" * 5000,
    "a comma too many": "[1,,2]",
    "two commas": '{"a":1,,"b":2}',
    "a comma only": "{,}",
    "two values in an object without a comma": '{"a":1 "b":2}',
    "a comment without an end": "{} /*",
    "zeros": "\0" * 300,
    "text behind zeros": "{}\0x",
    "a closed array too many": "[]]",
    "a deep array": "[" * 65 + "]" * 65,
    "a very deep array": "[" * 100_000,
    "a very deep object": '{"a":' * 100_000,
    "a very deep key": "{" * 100_000,
    "a deep array with a bare key": "[" * 70 + "{0:1}" + "]" * 70,
}


@pytest.mark.parametrize(("text", "value"), READ)
def test_a_liberty_of_fastjson_is_read(text: str, value: object) -> None:
    assert fastjson.loads(text) == fastjson.loads(text.encode()) == value


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_a_layout_error(name: str) -> None:
    with pytest.raises(LayoutError):
        fastjson.loads(GARBAGE[name])


def test_nesting_as_deep_as_allowed_is_read() -> None:
    text = "[" * 64 + "]" * 64
    assert fastjson.dumps(fastjson.loads(text)) == text.encode()


def test_bytes_that_are_no_utf8_are_a_layout_error() -> None:
    with pytest.raises(LayoutError) as caught:
        fastjson.loads(b'"a\xff"')
    assert caught.value.offset == 2


def test_integer_keys_are_written_bare_and_nulls_left_out() -> None:
    value = {0: "a", "1": "b", "n": None, True: 1}
    assert fastjson.dumps(value) == b'{0:"a","1":"b","True":1}'


def test_object_keys_are_written_whole() -> None:
    text = b'{{"q":0,"t":"T"}:{"o":5}}'
    assert fastjson.dumps(fastjson.loads(text)) == text


def test_characters_are_escaped_as_fastjson_escapes_them() -> None:
    value = 'K\x01\x0b\x1f\x7f\x9f\u2028é/"\\\n'
    text = '"K\\u0001\\u000B\\u001F\\u007F\\u009F\\u2028é/\\"\\\\\\n"'
    assert fastjson.dumps(value) == text.encode()
    assert fastjson.loads(text) == value


@pytest.mark.parametrize(("text", "found"), [('{"a"', "the end"), ('{"a"}', "'}'")])
def test_a_missing_character_is_named(text: str, found: str) -> None:
    with pytest.raises(LayoutError, match=f"expected ':', found {found}$"):
        fastjson.loads(text)

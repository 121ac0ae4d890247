"""
The kept header tables are complete and agree with other sources: the codes by name,
and the frames that real peers sent.
"""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from spec.clause import Clause, Level
from spec.tests.wire.header_tables import FOLDER, RELEASES, kept_json, kept_table
from spec.wire.consumer.offsets import COMMITTED_FIELDS
from spec.wire.headers.header_history import merge
from spec.wire.headers.header_table import DERIVED, HeaderTable, Request, read_table
from spec.wire.remoting.command import decode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

ROOT = FOLDER.parents[1]
RECORDED = sorted((ROOT / "fixtures" / "wire").rglob("*.bin"))
TABLES = {release: kept_table(release) for release in RELEASES}
HISTORY = merge(TABLES.values())


def applies(code: RequestCode | ResponseCode, release: str) -> bool:
    """Return whether *release* has a code, by the code's own since and until."""
    span = Clause(
        id="WIRE-TEST-001",
        level=Level.MUST,
        text="A field exists.",
        source="",
        since=code.since,
        until=code.until,
    )
    return span.applies_to(release)


@pytest.mark.parametrize("release", RELEASES)
def test_a_kept_table_is_as_its_schema_says(release: str) -> None:
    schema = (FOLDER / "header_table.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(kept_json(release), json.loads(schema))


def test_a_table_of_another_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="schema 2"):
        read_table({"schema": 2})


@pytest.mark.parametrize("release", RELEASES)
def test_the_codes_known_by_name_are_those_of_the_table(release: str) -> None:
    table = TABLES[release]
    named = {one.name: one.code for one in table.requests}
    known = {
        name: int(code)
        for name, code in RequestCode.__members__.items()
        if applies(code, release) and not is_other_spelling(name, named)
    }
    assert known == named


def is_other_spelling(name: str, named: dict[str, int]) -> bool:
    """Return whether the release spells the code that *name* stands for otherwise."""
    code = RequestCode[name]
    return name not in named and len(names_of(code)) > 1


def names_of(code: RequestCode) -> set[str]:
    """Return all names of a code."""
    return {name for name, one in RequestCode.__members__.items() if one == code}


@pytest.mark.parametrize("release", RELEASES)
def test_the_response_codes_known_by_name_are_those_of_the_table(release: str) -> None:
    named = {one.name: one.code for one in TABLES[release].responses}
    known = ResponseCode.__members__
    assert {name: int(known[name]) for name in named} == named
    # A number with two meanings is listed under the later; the earlier is an alias.
    missing = {code.name for code in ResponseCode if applies(code, release)} - set(
        named
    )
    assert not missing


@pytest.mark.parametrize(
    "path", RECORDED, ids=lambda one: f"{one.parent.name}-{one.stem}"
)
def test_a_recorded_frame_has_the_fields_of_its_header(path: Path) -> None:
    release, (name, kind) = path.parent.name.partition("-")[0], path.stem.split(".", 1)
    table, fields = TABLES[release], set(decode_command(path.read_bytes()).fields)
    request = table.request(int(name) if name.isdigit() else RequestCode[name.upper()])
    assert request is not None
    known, required = expected_fields(table, request, of_response=kind != "request")
    assert not fields - known, "fields that the table does not know"
    response_code = kind.partition("-")[2]
    if response_code in {"", "0"}:
        assert not required - fields, "required fields that were not sent"
    if response_code and not request.other_response_codes:
        assert int(response_code) in request.response_codes


def expected_fields(
    table: HeaderTable, request: Request, *, of_response: bool
) -> tuple[set[str], set[str]]:
    """Return the fields that a request or response may have, and those it must."""
    uses = request.responses if of_response else request.carried
    extra = request.response_extra_fields if of_response else request.extra_fields
    fields = [field for use in uses for field in table.headers[use.name].fields]
    required = {field.name for field in fields if field.required}
    return {*extra, *(field.name for field in fields)}, required


def test_version_2_of_the_send_header_has_a_letter_for_each_field() -> None:
    for table in TABLES.values():
        letters = table.headers["SendMessageRequestHeaderV2"]
        whole = table.headers["SendMessageRequestHeader"]
        short = {one.name: one for one in letters.fields if len(one.name) == 1}
        for one in short.values():
            meant = whole.field(one.long_name)
            if one.name != "n":  # the broker's name stands in a superclass
                assert meant is not None
                assert (one.java_type, one.required) == (
                    meant.java_type,
                    meant.required,
                )
        assert set("abcdefghijklm") <= set(short)


def test_fields_of_clauses_are_those_of_the_table() -> None:
    header = TABLES["4.6.0"].headers["UpdateConsumerOffsetRequestHeader"]
    assert {one.name for one in header.fields} == set(COMMITTED_FIELDS)


def test_what_is_not_derived_is_cited() -> None:
    sources = {
        path.source
        for table in TABLES.values()
        for request in table.requests
        for path in request.paths
    }
    assert all("#" in source for source in sources - {DERIVED})


def test_the_releases_side_by_side_tell_since_and_until() -> None:
    found = HISTORY.find("DELETE_SUBSCRIPTIONGROUP")
    assert found is not None
    assert str(found.presence) == ""
    header = HISTORY.headers["DeleteSubscriptionGroupRequestHeader"]
    spans = {field.name: str(field.presence) for field in header.fields}
    assert spans["cleanOffset"] == "since 5.3.3"
    assert spans["removeOffset"] == "4.9.7 only"
    renamed = HISTORY.find("105")
    assert renamed is not None
    spelt = [(name, str(when)) for name, when in renamed.names]
    assert spelt == [
        ("GET_ROUTEINTO_BY_TOPIC", "until 4.6.0"),
        ("GET_ROUTEINFO_BY_TOPIC", "since 4.9.7"),
    ]
    assert HISTORY.find("get_routeinto_by_topic") is renamed
    assert HISTORY.find("NO_SUCH_CODE") is None

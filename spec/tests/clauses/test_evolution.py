"""Each rule for what may change is seen to fail and to hold; known breaks are found."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from spec.tests.wire.header_tables import (
    FOLDER,
    RELEASES,
    kept_table,
    planted_field,
    planted_table,
)
from spec.wire.headers.evolution import changes, faults, history_of_changes
from spec.wire.headers.field_changes import holds
from spec.wire.headers.header_rules import (
    CODE_FITS,
    CODEC_IS_WHOLE,
    NOT_NARROWED,
    NOT_REMOVED,
    NOT_RENAMED,
    NOT_REQUIRED_LATER,
    NOT_REUSED,
    TYPE_IS_READABLE,
)
from spec.wire.headers.header_table import FastCodec, Field, HeaderTable, Response

TOPIC = planted_field("topic", required=True)
GROUP = planted_field("group")
BASE = planted_table("4.6.0", {"topic": TOPIC, "group": GROUP})


def broken(old: HeaderTable, new: HeaderTable) -> list[tuple[str, str]]:
    """Return rule and subject of each finding."""
    return [(one.rule.id, one.subject) for one in changes(old, new)]


def later(
    *fields: Field, header: str = "AskHeader", code: int = 17, name: str = "ASK"
) -> HeaderTable:
    """Return a table of a later release."""
    given = {one.name: one for one in fields}
    return planted_table("5.0.0", given, header=header, code=code, name=name)


def test_a_table_that_stays_as_it_is_breaks_nothing() -> None:
    assert not broken(BASE, replace(BASE, release="5.0.0"))


def test_a_new_field_that_is_not_required_breaks_nothing() -> None:
    assert not broken(BASE, later(TOPIC, GROUP, planted_field("bname")))


def test_a_new_required_field_is_found() -> None:
    added = planted_field("sequence", "Integer", required=True)
    found = broken(BASE, later(TOPIC, GROUP, added))
    assert found == [(NOT_REQUIRED_LATER.id, "AskHeader.sequence")]


def test_a_field_that_becomes_required_is_found() -> None:
    found = broken(BASE, later(TOPIC, planted_field("group", required=True)))
    assert found == [(NOT_REQUIRED_LATER.id, "AskHeader.group")]


def test_a_field_that_is_required_no_more_breaks_nothing() -> None:
    assert not broken(BASE, later(planted_field("topic"), GROUP))


def test_a_required_field_of_a_first_header_is_found() -> None:
    bare = planted_table("4.6.0")
    assert broken(bare, later(TOPIC)) == [(NOT_REQUIRED_LATER.id, "AskHeader.topic")]


def test_a_required_field_of_another_header_in_its_place_is_found() -> None:
    added = planted_field("sequence", required=True)
    found = broken(BASE, later(TOPIC, GROUP, added, header="ListHeader"))
    assert found == [(NOT_REQUIRED_LATER.id, "ListHeader.sequence")]


def test_another_name_of_the_header_alone_breaks_nothing() -> None:
    assert not broken(BASE, later(TOPIC, GROUP, header="ListHeader"))


def test_a_renamed_field_is_found_once() -> None:
    old = planted_table("4.6.0", {"x": planted_field("removeOffset", "boolean")})
    found = changes(old, later(planted_field("cleanOffset", "Boolean")))
    assert [(one.rule, one.subject) for one in found] == [
        (NOT_RENAMED, "AskHeader.removeOffset")
    ]
    assert "cleanOffset" in found[0].text


def test_a_removed_field_is_found_though_another_of_its_type_is_new() -> None:
    found = broken(BASE, later(TOPIC, planted_field("bname")))
    assert found == [(NOT_REMOVED.id, "AskHeader.group")]


@pytest.mark.parametrize(
    ("old", "new", "is_kept"),
    [
        ("long", "int", False),
        ("Long", "Integer", False),
        ("int", "long", True),
        ("Integer", "int", True),
        ("String", "Long", False),
        ("Long", "String", True),
        ("boolean", "Integer", False),
        ("int", "boolean", False),
        ("double", "long", False),
        ("long", "double", True),
        ("Boolean", "boolean", True),
    ],
)
def test_a_type_that_loses_values_is_found(old: str, new: str, is_kept: bool) -> None:
    assert holds(new, old) is is_kept
    before = planted_table("4.6.0", {"x": planted_field("size", old)})
    found = broken(before, later(planted_field("size", new)))
    assert found == ([] if is_kept else [(NOT_NARROWED.id, "AskHeader.size")])


def test_a_number_with_another_meaning_is_found() -> None:
    found = broken(BASE, later(TOPIC, GROUP, name="WIPE_EVERYTHING"))
    assert found == [(NOT_REUSED.id, "ASK")]


def test_another_spelling_of_a_name_breaks_nothing() -> None:
    old = planted_table("4.6.0", name="GET_ROUTEINTO_BY_TOPIC")
    new = planted_table("5.0.0", name="GET_ROUTEINFO_BY_TOPIC")
    assert not broken(old, new)


def test_a_code_with_another_number_is_found() -> None:
    found = changes(BASE, later(TOPIC, GROUP, code=18))
    assert [(one.rule, one.subject) for one in found] == [(NOT_REUSED, "ASK")]
    assert found[0].text == "is 18, was 17"


def test_a_code_that_is_gone_is_found_unless_nobody_used_it() -> None:
    empty = HeaderTable(release="5.0.0")
    assert (NOT_REMOVED.id, "ASK") in broken(BASE, empty)
    unused = tuple(replace(one, handled_in=()) for one in BASE.requests)
    assert not broken(replace(BASE, requests=unused), empty)


def test_a_response_code_with_another_meaning_is_found() -> None:
    old = HeaderTable(release="4.9.7", responses=(Response(code=9, name="ACL_FAILED"),))
    new = HeaderTable(release="5.0.0", responses=(Response(code=9, name="POLLING"),))
    assert broken(old, new) == [(NOT_REUSED.id, "ACL_FAILED")]


@pytest.mark.parametrize(("code", "fits"), [(32_767, True), (32_768, False)])
def test_a_code_that_two_bytes_do_not_hold_is_found(code: int, fits: bool) -> None:
    table = planted_table("5.0.0", code=code)
    found = [(one.rule, one.subject) for one in faults(table)]
    assert found == ([] if fits else [(CODE_FITS, "ASK")])


@pytest.mark.parametrize("kind", ["writes", "reads"])
def test_a_field_that_the_headers_own_code_leaves_out_is_found(kind: str) -> None:
    both = frozenset({"topic", "group"})
    codec = FastCodec(writes=both, reads=both, requires=frozenset())
    whole = replace(BASE.headers["AskHeader"], fast_codec=codec)
    assert not faults(replace(BASE, headers={"AskHeader": whole}))
    part = replace(codec, **{kind: frozenset({"topic"})})
    header = replace(whole, fast_codec=part)
    found = faults(replace(BASE, headers={"AskHeader": header}))
    expected = [(CODEC_IS_WHOLE, "AskHeader.group")]
    assert [(one.rule, one.subject) for one in found] == expected


def test_a_type_that_no_receiver_reads_is_found() -> None:
    found = faults(later(planted_field("plain", "List")))
    assert [one.rule for one in found] == [TYPE_IS_READABLE]


def test_what_was_wrong_before_is_not_found_again() -> None:
    old = planted_table("4.6.0", {"x": planted_field("plain", "List")})
    assert not broken(old, replace(old, release="5.0.0"))


def test_an_answers_header_is_compared_too() -> None:
    old = planted_table("5.3.3", {"topic": TOPIC})
    new = planted_table(
        "5.4.0", {"topic": TOPIC, "n": planted_field("n", required=True)}
    )
    tables = [
        replace(
            table,
            requests=tuple(
                replace(one, responses=one.headers, headers=())
                for one in table.requests
            ),
        )
        for table in (old, new)
    ]
    (found,) = changes(*tables)
    assert found.subject == "AskHeader.n"
    assert found.codes == ("response to ASK",)


def kept_findings() -> list[tuple[str, str, str, str]]:
    """Return releases, rule and subject of what is found in the kept tables."""
    found = history_of_changes(kept_table(release) for release in RELEASES)
    return [(str(one.old), one.new, one.rule.id, one.subject) for one in found]


def test_the_break_of_rolling_upgrades_to_5_4_is_found() -> None:
    subject = "GetAllTopicConfigResponseHeader.totalTopicNum"
    assert ("5.3.3", "5.4.0", NOT_REQUIRED_LATER.id, subject) in kept_findings()
    assert "apache/rocketmq#10168" in NOT_REQUIRED_LATER.issues


def test_the_field_that_5_x_renamed_is_found() -> None:
    subject = "DeleteSubscriptionGroupRequestHeader.removeOffset"
    assert ("4.9.7", "5.3.3", NOT_RENAMED.id, subject) in kept_findings()


def test_any_two_releases_can_be_compared() -> None:
    found = changes(kept_table("4.4.0"), kept_table("5.4.0"))
    subjects = {one.subject for one in found if one.rule is NOT_REQUIRED_LATER}
    assert "GetAllTopicConfigResponseHeader.totalTopicNum" in subjects
    assert {one.old for one in found} == {"4.4.0"}


def test_each_known_finding_is_one() -> None:
    text = (FOLDER / "known.toml").read_text(encoding="utf-8")
    known = {
        (one["new"], one["rule"], one["subject"])
        for one in tomllib.loads(text)["finding"]
    }
    assert known <= {one[1:] for one in kept_findings()}

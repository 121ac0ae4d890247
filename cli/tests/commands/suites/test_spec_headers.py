"""Output of ``rmqc spec headers`` and ``rmqc spec evolution``."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from cli.commands.suites.spec import spec
from cli.exports.headers import header_tables
from cli.pages.body_examples import FILE
from fixtures.record.body_examples import as_json, collected


def run(*arguments: str) -> Result:
    """Return the result of the command; an exception fails the test."""
    return CliRunner().invoke(spec, list(arguments), catch_exceptions=False)


def test_all_requests_of_all_releases_are_printed() -> None:
    text = run("headers").output
    for release, table in header_tables().items():
        assert release in text
        for request in table.requests:
            assert f"\n| {request.code} | " in text


@pytest.mark.parametrize("wanted", ["310", "SEND_MESSAGE_V2", "send_message_v2"])
def test_a_request_is_shown_with_its_headers(wanted: str) -> None:
    shown = run("headers", wanted).output
    assert "| 310 | SEND_MESSAGE_V2 |" in shown
    assert "| `a` | String | yes |" in shown
    assert "| `b` | String | yes |  |  | topic |" in shown
    assert "| `k` | Boolean; boolean up to 4.9.7 |" in shown
    assert "### SendMessageResponseHeader" in shown
    assert "### PullMessageRequestHeader" not in shown


@pytest.mark.parametrize("wanted", ["SEND_MESAGE", "SendMesageRequestHeader"])
def test_a_misspelt_name_gets_a_suggestion(wanted: str) -> None:
    result = run("headers", wanted)
    assert result.exit_code == 2
    assert f"header or body {wanted}; did you mean S" in result.output


def test_the_evolution_is_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("evolution").output.splitlines()
    assert len(lines) > 80
    # A name of Java's alone may be wider; such a line is one word.
    assert [one for one in lines if len(one) > 80 and " " in one.strip()] == []


def test_a_header_is_shown_with_the_requests_that_carry_it() -> None:
    shown = run("headers", "deletesubscriptiongrouprequestheader").output
    assert "| 207 | DELETE_SUBSCRIPTIONGROUP |" in shown
    assert "| `removeOffset` | boolean |  | `false` | 4.9.7 only |" in shown


def test_a_request_is_shown_with_a_recorded_body() -> None:
    shown = run("headers", "105").output
    head = "### Body of the response, TopicRouteData, as 4.6.0 wrote it\n\n```\n{\n"
    assert head in shown
    assert '      "brokerAddrs":{\n        0:"127.0.0.1:' in shown
    assert '"queueDatas":[' in run("headers", "topicroutedata").output
    assert "recorded" not in run("headers").output


def test_a_body_that_is_not_recorded_has_its_declared_members() -> None:
    shown = run("headers", "LOCK_BATCH_MQ").output
    assert "### Members of the request's body, LockBatchRequestBody" in shown
    assert "\nclientId  text  required  " in shown


def test_the_recorded_bodies_are_those_of_the_frames() -> None:
    assert FILE.read_text(encoding="utf-8") == as_json(collected()), (
        "python -m fixtures.record.body_examples writes them anew"
    )


def test_a_terminal_gets_plain_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("headers", "310", "--format", "text").output.splitlines()
    assert lines[0] == "310 SEND_MESSAGE_V2"
    assert "  a      String                        yes" in "\n".join(lines)
    assert max(map(len, lines)) <= 80
    assert not any("|" in line or "`" in line for line in lines)


def test_one_release_shows_only_what_it_has() -> None:
    assert "POP_MESSAGE" not in run("headers", "--release", "4.6.0").output
    assert "POP_MESSAGE" in run("headers", "--release", "5.4.0").output


def test_the_json_says_since_and_required_of_each_field() -> None:
    found = json.loads(run("headers", "21", "--format", "json").output)
    header = found["headers"]["GetAllTopicConfigResponseHeader"]
    (field,) = [one for one in header["fields"] if one["name"] == "totalTopicNum"]
    assert field["since"] == "5.4.0"
    assert field["required_in"] == ["5.4.0"]
    paths = found["requests"][0]["in"]["4.6.0"]["paths"]
    assert {"from": "broker", "to": "broker", "source": "derived"} in paths


def test_what_breaks_older_peers_is_a_finding_with_its_issue() -> None:
    result = run("evolution", "--from", "5.3.3", "--to", "5.4.0")
    assert result.exit_code == 1
    head = (
        "5.3.3 → 5.4.0  WIRE-HEADER-001  GetAllTopicConfigResponseHeader.totalTopicNum"
    )
    assert head in result.output
    assert "apache/rocketmq#10168" in result.output


def test_all_studied_releases_are_compared_one_after_the_other() -> None:
    found = json.loads(run("evolution", "--format", "json").output)
    pairs = [(one["from"], one["to"]) for one in found]
    assert list(dict.fromkeys(pairs)) == [
        ("4.4.0", "4.6.0"),
        ("4.6.0", "4.9.7"),
        ("4.9.7", "5.3.3"),
        ("5.3.3", "5.4.0"),
        ("5.4.0", "5.5.0"),
    ]
    subjects = {one["subject"] for one in found}
    assert "DeleteSubscriptionGroupRequestHeader.removeOffset" in subjects


def test_a_release_compared_with_itself_has_no_findings() -> None:
    result = run("evolution", "--from", "5.4.0", "--to", "5.4.0")
    assert result.exit_code == 0
    assert result.output == "no findings\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["headers", "NO_SUCH_THING"],
        ["headers", "--release", "3.2.6"],
        ["headers", "--out", "/no/such/directory/x"],
        ["evolution", "--from", "3.2.6"],
    ],
)
def test_a_wrong_argument_is_usage(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output


@pytest.mark.parametrize("option", ["--from", "--to"])
def test_a_wrong_release_is_reported_with_its_option(option: str) -> None:
    result = run("evolution", option, "3.2.6")
    assert result.exit_code == 2
    assert result.output.startswith(f"Error: {option}: 3.2.6 is not one of 4.4, ")

"""Form of the exports; their readers are tested elsewhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from cli.commands.suites.spec import spec
from spec.clause import Level
from spec.derive.dissector import ON_THE_WIRE
from spec.layouts import LAYOUTS
from spec.registry import all_clauses
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

VOID = {"meta", "br"}


def exported(*arguments: str) -> str:
    """Return the export; a failure of the command fails the test."""
    result = CliRunner().invoke(
        spec, ["export", "--format", *arguments], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.output


class _Balance(HTMLParser):
    """Notes which elements are open, and whether each end is the end of the last."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note that *tag* begins."""
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note that *tag* ends."""
        assert self.open.pop() == tag


def test_the_html_page_is_whole_and_has_every_clause_and_layout() -> None:
    page = _Balance()
    page.feed(exported("html"))
    assert page.open == []
    assert set(page.ids) >= {*all_clauses(), *LAYOUTS}
    assert len(page.ids) == len(set(page.ids))


def test_the_html_page_begins_with_contents_and_levels() -> None:
    text = exported("html")
    begin, _, rest = text.partition('<h2 id="clauses">')
    linked = re.findall(r'href="#([^"]+)"', begin)
    families = {name.rpartition("-")[0] for name in all_clauses()}
    assert families | set(LAYOUTS) | {"levels", "clauses", "layouts"} == set(linked)
    assert all(f'id="{name}"' in rest for name in families)
    assert all(level in begin for level in Level)


def test_the_diagrams_are_drawn_and_the_page_shows_them(tmp_path: Path) -> None:
    page = exported("md", "--diagrams", str(tmp_path / "drawn"))
    for name in LAYOUTS:
        assert f"![{name}]({tmp_path.as_posix()}/drawn/{name}.svg)" in page
        drawn = ElementTree.fromstring(  # noqa: S314 - our own text
            (tmp_path / "drawn" / f"{name}.svg").read_text(encoding="utf-8")
        )
        assert drawn.tag.endswith("svg")


def test_a_folder_that_cannot_be_made_is_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    arguments = ["export", "--format", "md", "--diagrams", str(tmp_path / "file" / "x")]
    result = CliRunner().invoke(spec, arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output


def test_the_json_of_the_layouts_has_every_field_and_its_meaning() -> None:
    found = {one["name"]: one for one in json.loads(exported("json", "--what=layouts"))}
    assert set(found) == set(LAYOUTS)
    assert not any("left_out" in one for one in found.values())
    frame = found["frame"]["fields"]
    assert [one["name"] for one in frame] == [
        one.name for one in LAYOUTS["frame"].subcons
    ]
    assert frame[-1]["size"] == "(size - 4) - header_size"


def test_the_dissector_has_no_gap_and_every_name_that_it_asks_for() -> None:
    text = exported("lua")
    assert "--TABLES--" not in text
    declared = set(re.findall(r'declare\("\w+", "([\w.]+)"', text)) | set(ON_THE_WIRE)
    assert set(re.findall(r'fields\["([\w.]+)"\]', text)) <= declared
    assert set(re.findall(r"\blayouts\.(\w+)", text)) == set(ON_THE_WIRE)


@pytest.mark.parametrize("names", [RequestCode, ResponseCode])
def test_the_dissector_knows_every_code(
    names: type[RequestCode] | type[ResponseCode],
) -> None:
    text = exported("lua")
    assert all(f'[{int(one)}] = "{one.name}",' in text for one in names)


def test_the_dissector_is_balanced() -> None:
    text = re.sub(r"--[^\n]*|\"(\\.|[^\"\\])*\"|'[^']*'", "", exported("lua"))
    for opening, closing in ("()", "[]", "{}"):
        assert text.count(opening) == text.count(closing)
    opened = re.findall(r"\b(?:function|if|do|repeat)\b", text)
    assert len(opened) == len(re.findall(r"\b(?:end|until)\b", text))


def test_the_kaitai_description_has_every_layout_and_leaves_none_out() -> None:
    text = exported("ksy")
    assert "left out" not in text
    assert all(f"\n  {name}:\n    seq:\n" in text for name in LAYOUTS)
    assert all(f": {json.dumps(one.name.lower())}\n" in text for one in RequestCode)


def test_requests_have_clauses_or_a_reason() -> None:
    found = json.loads(exported("json", "--what", "requests"))
    assert found["releases"]["5.4.0"]["without_entry"] == []
    assert found["releases"]["5.4.0"]["codes"] == 159
    (send,) = (one for one in found["requests"] if one["name"] == "SEND_MESSAGE_V2")
    assert "SEND-HEADER-001" in send["clauses"]

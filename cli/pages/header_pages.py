"""
The header tables as a Markdown page, and as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from cli.pages.body_examples import body_sections
from spec.wire.headers.header_history import (
    CodeHistory,
    FieldHistory,
    HeaderHistory,
    History,
    Presence,
)
from spec.wire.headers.header_table import DERIVED, HeaderUse

REQUEST_TITLES = ["code", "name", "releases", "header", "response header", "from → to"]
REQUEST_TITLES += ["other fields", "body", "response body", "response codes"]
FIELD_TITLES = ["field", "type", "required", "default", "releases", "meaning"]
INTRODUCTION = """\
# Fields of requests and responses

The headers of each request code and of its response, their senders and receivers, and
the fields of every header, in {releases}. `rmqc spec headers` writes this page from the
tables in `fixtures/headers`, which come from the releases' class files. `rmqc spec
evolution` reports the changes between releases.

A field is text under its name in the header's `extFields`. *Required* fields have
Java's annotation CFNotNull. A receiver uses the default of a missing required field
(WIRE-COMMAND-007). *Codes* are the response codes that the processor sets, in any of
the releases. An unexpected failure has the code 1 in addition. *Releases* has the
first or last studied release of a field; empty means all releases of the header.
"""


def as_markdown(history: History) -> str:
    """Return the page."""
    lines = []
    if history.responses:
        releases = ", ".join(history.studied)
        lines += [INTRODUCTION.format(releases=releases), "## Requests", ""]
    lines += _table(
        REQUEST_TITLES,
        map(request_row, history.requests),
    )
    if history.responses:
        lines += ["## Response codes", ""]
        lines += _table(["code", "name", "releases"], _response_rows(history))
        lines += ["## Headers", ""]
    for header in history.headers.values():
        lines += _header_section(header, history)
    return "\n".join(lines).rstrip() + "\n"


def _table(titles: list[str], rows: Iterable[list[str]]) -> list[str]:
    lines = [titles, ["---"] * len(titles), *rows]
    return [*(f"| {' | '.join(cells)} |" for cells in lines), ""]


def request_row(one: CodeHistory) -> list[str]:
    """Return the cells of a request, by `REQUEST_TITLES`."""
    _, newest = one.versions[-1]
    paths = [f"{path}{'' if path.source == DERIVED else ' *'}" for path in newest.paths]
    extra = dict.fromkeys(
        name
        for _, request in one.versions
        for name in (*request.extra_fields, *request.response_extra_fields)
    )
    return [
        str(one.code),
        _names(one),
        str(one.presence),
        _carried(one, [request.carried for _, request in one.versions]),
        _carried(one, [request.responses for _, request in one.versions]),
        "<br>".join(paths),
        ", ".join(f"`{name}`" for name in extra),
        _union(request.bodies for _, request in one.versions),
        _union(request.response_bodies for _, request in one.versions),
        _union(request.response_codes for _, request in one.versions),
    ]


def _union(found: Iterable[Iterable[object]]) -> str:
    """Return the union over the releases, without repeats, the newest's first."""
    newest_first = reversed(list(found))
    return ", ".join(str(one) for one in dict.fromkeys(chain(*newest_first)))


def _names(one: CodeHistory) -> str:
    """Return the newest name, then older ones with their releases."""
    *older, newest = one.names
    return "<br>".join([newest[0], *(f"({name} {when})" for name, when in older)])


def _carried(one: CodeHistory, uses: list[tuple[HeaderUse, ...]]) -> str:
    """Return the first header of each release, with the releases where they differ."""
    first = [found[0].name if found else "" for found in uses]
    studied = one.presence.studied
    spans = []
    for name, group in groupby(zip(first, one.versions, strict=True), lambda x: x[0]):
        releases = tuple(release for _, (release, _) in group)
        when = Presence(releases=releases, studied=studied)
        spans.append(f"{name or 'none'} {when}" if len(set(first)) > 1 else name)
    return "<br>".join(span.strip() for span in spans)


def _response_rows(history: History) -> Iterator[list[str]]:
    for one in history.responses:
        for name, when in one.names:
            yield [str(one.code), name, str(when)]


def _header_section(header: HeaderHistory, history: History) -> list[str]:
    lines = [f"### {header.name}", ""]
    sentences = header_sentences(header, history)
    lines += [" ".join(sentences), ""] if sentences else []
    own = own_fields(header)
    if not own:
        return [*lines, "No fields of its own.", ""]
    return [*lines, *_table(FIELD_TITLES, (field_row(one, header) for one in own))]


def header_sentences(header: HeaderHistory, history: History) -> list[str]:
    """Return the commands with *header*, its releases, and where it has more fields."""
    newest = header.versions[-1][1]
    carriers = [
        one.name for one in history.requests if header.name in one.request_headers
    ]
    responses = [
        one.name for one in history.requests if header.name in one.answered_with
    ]
    sentences = [f"Carried by {', '.join(carriers)}."] if carriers else []
    sentences += [f"Responds to {', '.join(responses)}."] if responses else []
    sentences += [f"Only {header.presence}."] if str(header.presence) else []
    sentences += ["Its values are checked further (Java: checkFields)."] * (
        newest.checks_fields
    )
    lent = {one.newest.declared_in for one in header.fields} - {header.name}
    sentences += (
        [f"It also has the fields of {' and '.join(sorted(lent))}."] if lent else []
    )
    return sentences


def own_fields(header: HeaderHistory) -> list[FieldHistory]:
    """Return the fields that *header* itself declares."""
    return [one for one in header.fields if one.newest.declared_in == header.name]


def field_row(one: FieldHistory, header: HeaderHistory) -> list[str]:
    """Return the cells of a field of *header*, by `FIELD_TITLES`."""
    newest = one.newest
    last_of = {version.java_type: release for release, version in one.versions}
    older = [name for name in last_of if name != newest.java_type]
    types = [f"{name} up to {last_of[name]}" for name in reversed(older)]
    means = dict.fromkeys([newest.long_name, newest.resource.lower()])
    return [
        f"`{one.name}`",
        "; ".join([newest.java_type, *types]),
        _required(one),
        "" if newest.default is None else f"`{newest.default}`",
        _when(one, header),
        ", ".join(filter(None, means)),
    ]


def _required(one: FieldHistory) -> str:
    if len(one.required_in) in {0, len(one.versions)}:
        return "yes" if one.required_in else ""
    return f"in {', '.join(one.required_in)}"


def _when(one: FieldHistory, header: HeaderHistory) -> str:
    """Return the field's releases where they are not all of the header's."""
    if one.presence.releases == header.presence.releases:
        return ""
    return str(one.presence)


def bodies_as_markdown(history: History) -> str:
    """Return the bodies of the requests as sections of the page."""
    sections = [
        f"\n### {title}\n\n```\n{text.rstrip()}\n```\n"
        for request in history.requests
        for title, text in body_sections(request)
    ]
    return "".join(sections)


def as_json(history: History) -> str:
    """Return the tables side by side as JSON."""
    shown = {
        "schema": 1,
        "releases": list(history.studied),
        "requests": [_request_json(one) for one in history.requests],
        "responses": [_code_json(one) for one in history.responses],
        "headers": {
            name: {
                **_presence_json(header.presence),
                "fields": [_field_json(one) for one in header.fields],
            }
            for name, header in history.headers.items()
        },
    }
    return json.dumps(shown, indent=1, ensure_ascii=False) + "\n"


def _presence_json(presence: Presence) -> dict[str, object]:
    return {
        "since": presence.since,
        "until": presence.until,
        "releases": list(presence.releases),
    }


def _code_json(one: CodeHistory) -> dict[str, object]:
    names = {name: list(when.releases) for name, when in one.names}
    return {
        "code": one.code,
        "name": one.name,
        "names": names,
        **_presence_json(one.presence),
    }


def _request_json(one: CodeHistory) -> dict[str, object]:
    return {
        **_code_json(one),
        "in": {
            release: {
                "headers": [use.name for use in request.headers],
                "answers": [use.name for use in request.responses],
                "extra_fields": list(request.extra_fields),
                "answer_extra_fields": list(request.response_extra_fields),
                "bodies": list(request.bodies),
                "answer_bodies": list(request.response_bodies),
                "answer_codes": list(request.response_codes),
                "paths": [
                    {"from": path.sender, "to": path.receiver, "source": path.source}
                    for path in request.paths
                ],
            }
            for release, request in one.versions
        },
    }


def _field_json(one: FieldHistory) -> dict[str, object]:
    newest = one.newest
    return {
        "name": one.name,
        "long_name": newest.long_name or None,
        "type": newest.java_type,
        "types": {release: version.java_type for release, version in one.versions},
        "default": newest.default,
        "required": newest.required,
        "required_in": list(one.required_in),
        "resource": newest.resource or None,
        "declared_in": newest.declared_in,
        **_presence_json(one.presence),
    }

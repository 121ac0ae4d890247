"""
Differences between two targets, and their explanations by clauses.

A difference is one fact of one response that is not the same on both sides. An
explanation has its clauses, the path of the difference, and its two values. It
applies if one of its clauses applies to only one of the two releases. It also applies
if only one release is as new as it requires. A difference without an explanation is a
finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance.differential.steps.step import Step
from spec.bodies import BODIES
from spec.clause import release_key
from spec.registry import clause as clause_of
from spec.wire.bodies.json_body import members

ABSENT = "(absent)"
ANY = "*"
FIRST = "4.4"
"""The first release that was studied: what it has, all have."""
WAYS, RESTS = ("", ".*"), ("", ".*")
"""Allowed path before a member of a body, and behind it."""
SUCCESS, ERROR, INVALID = "0 SUCCESS", "1 SYSTEM_ERROR", "29 INVALID_PARAMETER"
ILLEGAL, NO_TOPIC = "13 MESSAGE_ILLEGAL", "17 TOPIC_NOT_EXIST"
NO_GROUP, NOT_FOUND = "26 SUBSCRIPTION_GROUP_NOT_EXIST", "22 QUERY_NOT_FOUND"
RETRY = "*%RETRY%*"
REGION = ("MSG_REGION", "TRACE_ON")
RECORDS = ("pull.records.*", "view message.records.*", "query message.records.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One fact of one response that is not the same on both sides."""

    kind: str
    """Kind of the step."""
    path: str
    target: str
    against: str

    @property
    def where(self) -> str:
        """The path with the kind of step before it, as explanations name it."""
        return f"{self.kind}.{self.path}"

    @property
    def values(self) -> frozenset[str]:
        """Both values; which side has which depends on the order of the releases."""
        return frozenset({self.target, self.against})


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A difference that clauses foretell."""

    clauses: tuple[str, ...]
    where: tuple[str, ...]
    """Patterns of the kind of step and the path."""
    values: tuple[str, str] = (ANY, ANY)
    """Patterns of both values, in either order."""
    about: str = ANY
    """A pattern of the step as it is printed."""
    since: str | None = None
    """First release with the feature, where no clause states it."""
    parts: bool = False
    """Whether the targets are in different states after it, though the codes agree."""

    def fits(self, difference: Difference, step: Step) -> bool:
        """Return whether the difference is of this kind."""
        one, other = difference.target, difference.against
        return (
            any(fnmatchcase(difference.where, pattern) for pattern in self.where)
            and (self._between(one, other) or self._between(other, one))
            and fnmatchcase(str(step), self.about)
        )

    def separates(self, some: str, other: str) -> bool:
        """Return whether it is about a change between the two releases."""
        if self.since is not None:
            since = release_key(self.since)
            return (release_key(some) < since) != (release_key(other) < since)
        clauses = [clause_of(name) for name in self.clauses]
        return any(one.applies_to(some) != one.applies_to(other) for one in clauses)

    def _between(self, one: str, other: str) -> bool:
        return fnmatchcase(one, self.values[0]) and fnmatchcase(other, self.values[1])


def _by_code(
    clauses: tuple[str, ...], kind: str, *values: str, about: str = ANY
) -> Explanation:
    """Return an explanation of two codes of the responses to one kind of request."""
    one, other = values
    return Explanation(
        clauses=clauses, where=(f"{kind}.code",), values=(one, other), about=about
    )


def _added(since: str, *where: str, clause: str = "WIRE-JSON-003") -> Explanation:
    """Return an explanation of fields that a release added, and older readers skip."""
    return Explanation(
        clauses=(clause,), where=where, values=(ABSENT, ANY), since=since
    )


def _added_members() -> Iterator[Explanation]:
    """Yield an explanation for each member of a body that is declared to be younger."""
    for body in BODIES.values():
        for _, declared, _, _ in members(body):
            if declared.since != FIRST:
                member = declared.java_name
                yield _added(
                    declared.since,
                    *(f"*.body{way}.{member}{rest}" for way in WAYS for rest in RESTS),
                    clause="WIRE-FASTJSON-005",
                )


EXPLANATIONS: tuple[Explanation, ...] = (
    _by_code(("PULL-QUEUE-001", "PULL-QUEUE-002"), "pull", ERROR, INVALID),
    _by_code(("SEND-QUEUE-002", "SEND-QUEUE-003"), "send*", ERROR, INVALID),
    _by_code(("SEND-TOPIC-002", "SEND-TOPIC-004"), "send", ILLEGAL, INVALID),
    _by_code(
        ("SEND-TOPIC-008", "SEND-TOPIC-009"), "send", SUCCESS, "[!0]*", about="*é*"
    ),
    _by_code(("SEND-TOPIC-010",), "send", ERROR, SUCCESS, about="*TBW102*"),
    _by_code(
        ("SEND-BODY-002", "SEND-BODY-003"),
        "send",
        SUCCESS,
        "[!0]*",
        about="*payload=b''*",
    ),
    _by_code(
        ("OFFSET-QUERY-002", "OFFSET-QUERY-003"), "query offset", SUCCESS, NOT_FOUND
    ),
    _by_code(
        ("OFFSET-COMMIT-005", "OFFSET-COMMIT-006"), "update offset", SUCCESS, NO_TOPIC
    ),
    _by_code(("OFFSET-COMMIT-007",), "update offset", SUCCESS, NO_GROUP),
    _by_code(
        ("WIRE-CONN-002", "WIRE-CONN-003"),
        "wrong",
        "no answer",
        "3 *",
        about="unknown*",
    ),
    Explanation(
        clauses=("WIRE-COMMAND-007",), where=("wrong.code",), about="*without*"
    ),
    Explanation(
        clauses=("TXN-HALF-006", "TXN-HALF-007"),
        where=("send*.fields.transactionId",),
        values=(ABSENT, ANY),
    ),
    Explanation(
        clauses=("SEND-PROPS-004",),
        where=tuple(f"{one}.UNIQ_KEY" for one in RECORDS),
        values=(ABSENT, ANY),
    ),
    Explanation(
        clauses=("SEND-PROPS-005",),
        where=tuple(f"{one}.{name}" for one in RECORDS for name in REGION),
        values=(ABSENT, ANY),
    ),
    Explanation(
        clauses=("SEND-BODY-002", "SEND-BODY-003"),
        where=("send.fields.MSG_REGION", "send.fields.TRACE_ON"),
        values=(ABSENT, ANY),
        about="*payload=b''*",
    ),
    Explanation(
        clauses=("RETRY-DLQ-002", "RETRY-DLQ-003"),
        where=("pull.code",),
        values=("16 NO_PERMISSION", ANY),
        about="*%DLQ%*",
    ),
    Explanation(
        clauses=("RETRY-DLQ-002", "RETRY-DLQ-003"),
        where=("all topic config.body.topicConfigTable.%DLQ%*.perm",),
        values=("2", "6"),
    ),
    Explanation(
        clauses=("TXN-HALF-008",),
        where=tuple(f"{one}.__transactionId__" for one in RECORDS),
        values=(ABSENT, ANY),
    ),
    Explanation(
        clauses=("SEND-BATCH-013", "SEND-BATCH-014"),
        where=tuple(f"{one}.CLUSTER" for one in RECORDS),
        values=(ABSENT, ANY),
    ),
    _by_code(("SEND-RETRY-007", "SEND-RETRY-008"), "send", ERROR, SUCCESS, about=RETRY),
    Explanation(
        clauses=("SEND-RETRY-003", "SEND-RETRY-004"),
        where=("send.fields.*",),
        about=RETRY,
        parts=True,
    ),
    _by_code(("OFFSET-RESET-001", "OFFSET-RESET-003"), "reset offset", ERROR, SUCCESS),
    _by_code(
        ("OFFSET-RESET-002", "OFFSET-RESET-003"), "reset offset", "206 *", SUCCESS
    ),
    Explanation(
        clauses=("OFFSET-SEARCH-003", "OFFSET-SEARCH-004"),
        where=("search offset.fields.offset",),
        about="*an hour after*",
    ),
    Explanation(
        clauses=("OFFSET-SEARCH-005", "OFFSET-SEARCH-006"),
        where=("search offset.fields.offset",),
        about="*just after*",
    ),
    Explanation(
        clauses=("OFFSET-SEARCH-011",),
        where=("search offset.fields.offset",),
        about="*upper*",
    ),
    Explanation(
        clauses=("OFFSET-SEARCH-010",),
        where=("search offset.fields.offset",),
        about="search offset*[0-9t]",  # no other time than that of a message
    ),
    Explanation(
        clauses=("PULL-MAXOFFSET-003", "PULL-MAXOFFSET-004"),
        where=("pull.fields.nextBeginOffset",),
    ),
    Explanation(clauses=("ROUTE-KV-010", "ROUTE-KV-011"), where=("key value.code",)),
    _added("5.0", "pull.fields.groupSysFlag", "pull.fields.topicSysFlag"),
    _added("5.0", "pull.fields.forbiddenType"),
    _added(
        "5.0",
        "all topic config.body.mappingDataVersion*",
        "all topic config.body.topicQueueMapping*",
        clause="WIRE-FASTJSON-005",
    ),
    _added("5.0", "heartbeat.fields.IS_SUB_CHANGE", "heartbeat.fields.IS_SUPPORT_*"),
    *_added_members(),
)


def explain(
    difference: Difference, step: Step, *, releases: tuple[str, str]
) -> Explanation | None:
    """Return the explanation of *difference* between two releases, or None."""
    for one in EXPLANATIONS:
        if one.separates(*releases) and one.fits(difference, step):
            return one
    return None

"""The mutating proxy passes frames unchanged, and changes exactly one thing."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.harness.client.client import batch_body, require_success
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.report.outcome import Outcome
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import parse_target
from conformance.messaging.stored_messages import record_of
from conformance.meta.clauses.suite_files import UNTESTED
from conformance.mutating_proxy.changes import SAME, Setting, stale, swapped
from conformance.mutating_proxy.frame_tree import frame_of, tree_of
from conformance.mutating_proxy.mutation import (
    FRAME,
    FrameKind,
    Mutation,
    Unit,
    Verb,
    change_tree,
    mutations_of,
)
from conformance.mutating_proxy.places import Occurrence, kind_of, occurrences
from conformance.mutating_proxy.proxied_target import ProxiedReference
from conformance.mutating_proxy.recording import CLOSEST, OF_EACH_CLAUSE, Recording
from conformance.mutating_proxy.results import (
    detecting_clause,
    families,
    is_right,
    mutation_of,
    shares,
    survivors,
)
from conformance.mutating_proxy.session import Result, TestRun, read_results
from conformance.mutating_proxy.switch import SWITCH, Switch
from spec.clause import Clause
from spec.layout import LayoutError
from spec.registry import all_clauses, modules
from spec.store.message_record import Record, encode_record
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import RequestCode

RECORDED = sorted((SOURCES / "fixtures" / "mutants").glob("*.jsonl"))
"""Results of the proxy before real releases."""
LATER = (
    *("spec.routing.single_topic", "spec.wire.admin.later_requests"),
    *("spec.wire.ha.later_requests", "spec.wire.message.timed", "spec.wire.pop"),
)
"""Modules with the clauses of requests that the reference does not serve."""

RECORD = Record(
    topic="T",
    queue_id=1,
    queue_offset=2,
    physical_offset=3,
    body=b"b",
    properties="a\x01b\x02",
)
BODIES = {
    "no body": b"",
    "JSON": b'{"table":{0:"127.0.0.1:10911"},"rows":[{"queueId":1},{"queueId":2}]}',
    "records": encode_record(RECORD) * 2,
    "lines": b"brokerName=a\nbrokerId=0\n",
    "bytes": b"\x01\x02",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_frame_is_the_same_after_its_tree(body: bytes) -> None:
    command = Command(
        code=0, opaque=7, flag=1, remark="r", fields={"a": "1"}, body=body
    )
    frame = encode_command(command)
    assert frame_of(tree_of(frame)) == frame


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_each_change_of_a_value_leaves_the_rest(body: bytes) -> None:
    fields = {"offset": "1", "other": "2"}
    frame = encode_command(Command(code=0, opaque=7, flag=1, fields=fields, body=body))
    units = [
        Unit(
            FrameKind.RESPONSE,
            RequestCode.GET_MAX_OFFSET,
            one.place,
            kind_of(one.value),
        )
        for one in occurrences(tree_of(frame))
    ]
    found = [one for one in mutations_of(units) if not one.is_verb]
    assert {"fields.offset", "code"} <= {one.place for one in found}
    for mutation in found:
        tree = tree_of(frame)
        change_tree(tree, mutation, Setting())
        if tree == tree_of(frame):
            continue
        try:
            changed = frame_of(tree)
        except LayoutError:  # such a value cannot be written
            continue
        assert changed != frame, mutation
        if not mutation.place.startswith("body"):
            assert decode_command(changed).body == body, mutation


def test_a_batch_is_a_list_of_its_messages() -> None:
    code = RequestCode.SEND_BATCH_MESSAGE
    body = batch_body([(b"one", {"TAGS": "a"}), (b'{"two":2}', {})])
    frame = encode_command(Command(code=code, body=body))
    tree = tree_of(frame)
    assert [one["body"] for one in tree["body"]] == [b"one", b'{"two":2}']
    assert frame_of(tree) == frame
    mutation = Mutation(FrameKind.REQUEST, code, "body[].properties.TAGS", "dropped")
    assert change_tree(tree, mutation, Setting())
    changed = batch_body([(b"one", {}), (b'{"two":2}', {})])
    assert decode_command(frame_of(tree)).body == changed


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_body_of_a_message_stays_bytes(body: bytes) -> None:
    frame = encode_command(Command(code=RequestCode.SEND_MESSAGE_V2, body=body))
    assert tree_of(frame)["body"] == body


def test_a_frame_that_a_tree_cannot_hold_passes_unchanged() -> None:
    twice = encode_record(replace(RECORD, properties="a\x011\x02a\x012\x02"))
    frame = encode_command(Command(code=0, opaque=7, flag=1, body=twice))
    assert frame_of(tree_of(frame)) != frame
    code = RequestCode.PULL_MESSAGE
    mutation = Mutation(FrameKind.RESPONSE, code, "body[].flag", "stale")
    switch = Switch()
    switch.set(mutation)
    assert switch.changed(FrameKind.RESPONSE, code, frame, tree_of(frame)) == frame
    assert switch.count == 0


def test_a_rare_value_of_an_earlier_test_is_kept() -> None:
    code = RequestCode.GET_MAX_OFFSET
    mutation = Mutation(FrameKind.REQUEST, code, "fields.topic", "another object's")
    switch = Switch()
    for topics in (["rare", *["frequent"] * 100], ["frequent"]):
        switch.set(mutation)
        for topic in topics:
            frame = encode_command(Command(code=code, fields={"topic": topic}))
            changed = switch.changed(FrameKind.REQUEST, code, frame, tree_of(frame))
    assert decode_command(changed).fields == {"topic": "rare"}


def test_a_stale_value_is_an_earlier_one() -> None:
    one = Occurrence("fields.offset", {"offset": "5"}, "offset")
    assert stale(one, Setting(previous=("3", "4", "5"))) == "4"
    assert stale(one, Setting(previous=("5",))) is SAME


def test_a_swapped_value_is_that_of_the_next_member() -> None:
    fields = {"minOffset": "0", "name": "a", "maxOffset": "9"}
    assert (
        swapped(Occurrence("fields.minOffset", fields, "minOffset"), Setting()) == "9"
    )
    assert swapped(Occurrence("fields.name", fields, "name"), Setting()) is SAME


def test_a_field_that_no_release_declares_is_not_swapped_in() -> None:
    code = RequestCode.QUERY_CONSUMER_OFFSET
    mutation = Mutation(FrameKind.REQUEST, code, "fields.topic", "swapped")
    for name, topic in (("producerGroup", "T"), ("consumerGroup", "other")):
        fields = {"topic": "T", name: "other"}
        tree = tree_of(encode_command(Command(code=code, opaque=7, fields=fields)))
        change_tree(tree, mutation, Setting())
        assert tree["fields"]["topic"] == topic, name


@pytest.mark.parametrize(
    ("place", "change", "value", "is_real"),
    [
        ("batch", "dropped", "false", False),
        ("batch", "dropped", "true", True),
        ("batch", "off by one", "false", True),
        ("batch", "empty", "false", False),
        ("batch", "empty", "true", True),
        ("queueId", "off by one", "ten", False),
        ("queueId", "off by one", "10", True),
        ("topic", "off by one", "ten", True),
    ],
)
def test_a_change_that_no_receiver_reads_does_not_count(
    place: str, change: str, value: str, is_real: bool
) -> None:
    code = RequestCode.SEND_MESSAGE
    tree = tree_of(encode_command(Command(code=code, fields={place: value})))
    mutation = Mutation(FrameKind.REQUEST, code, f"fields.{place}", change)
    assert change_tree(tree, mutation, Setting()) == is_real
    assert (tree["fields"] != {place: value}) == is_real


def test_a_mutation_is_shown_to_each_right_clause() -> None:
    code = RequestCode.GET_MAX_OFFSET
    place = Unit(FrameKind.RESPONSE, code, "fields.offset", "number")
    clauses = ["WIRE-TABLE-001"] * (CLOSEST + 2) + ["OFFSET-MAX-001"] * (
        OF_EACH_CLAUSE + 2
    )
    runs = [
        TestRun(
            test=f"test_{number}",
            outcome=Outcome.PASS,
            clauses=[clause],
            blamed=[],
            duration_s=0,
            units=[place],
        )
        for number, clause in enumerate(clauses)
    ]
    mutation = Mutation(FrameKind.RESPONSE, code, "fields.offset", "dropped")
    shown = Recording(runs).tests_for(mutation)
    others = range(CLOSEST + 2, CLOSEST + 2 + OF_EACH_CLAUSE)
    assert shown == [f"test_{number}" for number in (*range(CLOSEST), *others)]


def result_of(mutation: Mutation, clause: str) -> Result:
    """Return the result of a *mutation* that *clause* detected, if one did."""
    run = TestRun(
        test="test_one",
        outcome=Outcome.FAIL if clause else Outcome.PASS,
        clauses=[clause],
        blamed=[clause],
        duration_s=0,
        count=1,
    )
    key = (mutation.frame_kind, mutation.code, mutation.place, mutation.change)
    return Result(mutation=key, runs=[run])


def test_three_shares_are_reported() -> None:
    pull, register = RequestCode.PULL_MESSAGE, RequestCode.REGISTER_BROKER
    place = "fields.minOffset"
    results = [
        result_of(Mutation(FrameKind.RESPONSE, code, where, "dropped"), clause)
        for code, where, clause in (
            (pull, place, "PULL-FOUND-003"),
            (pull, "fields.maxOffset", "GROUP-LOCK-001"),
            (pull, "fields.nextBeginOffset", ""),
            (pull, "remark", ""),
            (register, "fields.haServerAddr", ""),
        )
    ]
    assert list(shares(results)) == [
        "3 of 5 (60.0%) are detected or have a reason",
        "2 of 3 (66.7%) that break a client are detected",
        "1 of 2 (50.0%) are first detected by a clause about the request",
    ]


def test_families_are_of_requests_and_clauses() -> None:
    known = {
        part
        for name in all_clauses()
        for part in (name.rpartition("-")[0], name.split("-")[0])
    }
    for code, names in families().items():
        assert code in ("ANY", "RESTARTED") or code in RequestCode.__members__
        assert set(names) <= known, code


def test_each_survivor_has_a_reason_and_a_source() -> None:
    for one in survivors():
        assert one.mutations
        assert one.reason.endswith(".")
        assert one.source


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_recorded_mutations_of_a_release_were_detected(file: Path) -> None:
    results = list(read_results(file))
    found = [one for one in results if detecting_clause(one)]
    assert found
    for one in found:
        mutation, clause = mutation_of(one), detecting_clause(one)
        assert clause in all_clauses()
        assert is_right(mutation, clause), f"{mutation}: {clause}"


def test_each_clause_of_later_requests_was_seen_to_fail() -> None:
    seen = {
        clause
        for file in RECORDED
        for result in read_results(file)
        for run in result.runs
        if run.count and run.outcome == Outcome.FAIL
        for clause in run.blamed
    }
    declared = {
        one.id
        for module in modules()
        if module.__name__.startswith(LATER)
        for one in vars(module).values()
        if isinstance(one, Clause)
    }
    untested = tomllib.loads(UNTESTED.read_text()).keys()
    assert sorted(declared - untested - seen) == []


@pytest.fixture(scope="module")
def proxied() -> Iterator[ProxiedReference]:
    """Yield a started target behind the proxy."""
    target = parse_target("proxied:")
    assert isinstance(target, ProxiedReference)
    with target:
        yield target


@pytest.fixture
def place(proxied: ProxiedReference) -> Iterator[str]:
    """Yield a topic on the target, and end the mutation of the test."""
    yield create_topic(proxied, unique_name("mutated"))
    SWITCH.set(None)


def test_hosts_are_those_of_the_suite_and_the_proxy(
    proxied: ProxiedReference, place: str
) -> None:
    with proxied.connect_to_broker() as broker:
        record = record_of(broker, broker.send_message(topic=place))
        assert str(record.born_host) == str(broker.peer.local_address)
        assert str(record.store_host) == str(proxied.broker)


def test_one_field_of_one_code_is_wrong(proxied: ProxiedReference, place: str) -> None:
    code = RequestCode.GET_MAX_OFFSET
    mutation = Mutation(FrameKind.RESPONSE, code, "fields.offset", "off by one")
    with proxied.connect_to_broker() as broker:
        SWITCH.set(mutation)
        offsets = [
            require_success(request(topic=place, queue_id=0)).fields["offset"]
            for request in (broker.max_offset, broker.min_offset)
        ]
    assert offsets == ["1", "0"]
    assert SWITCH.count == 1


@pytest.mark.parametrize(
    ("verb", "count"), [(Verb.LOST, 0), (Verb.TWICE, 2), (Verb.DELAYED, 0)]
)
def test_a_send_is_executed_wrongly(
    proxied: ProxiedReference, place: str, verb: Verb, count: int
) -> None:
    with proxied.connect_to_broker() as broker:
        before = broker.max_offset(topic=place, queue_id=0).fields["offset"]
    SWITCH.set(Mutation(FrameKind.REQUEST, RequestCode.SEND_MESSAGE_V2, FRAME, verb))
    with proxied.connect_to_broker() as broker:
        assert broker.send_message(topic=place, queue_id=0).code == 0
        SWITCH.off()
        found = broker.max_offset(topic=place, queue_id=0).fields["offset"]
    assert int(found) - int(before) == count


def test_a_response_comes_twice(proxied: ProxiedReference, place: str) -> None:
    SWITCH.set(
        Mutation(FrameKind.RESPONSE, RequestCode.GET_MAX_OFFSET, FRAME, Verb.TWICE)
    )
    with proxied.connect_to_broker() as broker:
        first = broker.max_offset(topic=place, queue_id=0)
        assert first == broker.peer.receive()

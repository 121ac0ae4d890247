"""
Clients join and leave groups in any way, and each member hears exactly what it must.

Three clients, two of them of the same name, beat for two groups with subscriptions of
their own; they unregister, or their connections close. After every step the machine
compares what each was told, the members of both groups, and the groups' subscriptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from conformance.harness.deadline import TooLateError, wait_until
from conformance.harness.fixtures import unique_name
from conformance.harness.live import LiveTarget
from conformance.harness.machines import run_machine
from conformance.harness.speaker import (
    Speaker,
    body_of,
    consumer_data,
    subscription_data,
    succeeded,
)
from conformance.harness.verdicts import expect, expect_code
from conformance.models.groups import Group, Groups, Wanted
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

CLIENT_IDS = ("first", "second", "first")
"""Of the three connections: two may have the same."""
CHANGED = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED

clients = st.integers(0, len(CLIENT_IDS) - 1)
groups = st.integers(0, 1)
wishes = st.dictionaries(
    st.integers(0, 2),
    st.builds(Wanted, st.integers(0, 2), st.sampled_from(["*", "a", "a || b"])),
)
"""What a heartbeat says, by topic."""


class GroupMachine(RuleBasedStateMachine):
    """Does everything to two groups of a broker, and to a model of them."""

    def __init__(self, target: LiveTarget) -> None:
        super().__init__()
        self.target = target
        self.control = target.speak_to_broker()
        self.model = Groups()
        self.names = [unique_name("group") for _ in range(2)]
        self.topics = [unique_name("wanted") for _ in range(3)]
        self.speakers: dict[int, Speaker] = {}

    def teardown(self) -> None:
        """Close all connections."""
        for speaker in (self.control, *self.speakers.values()):
            speaker.close()

    @rule(client=clients, group=groups, wish=wishes, is_renamed=st.booleans())
    def beat(
        self, client: int, group: int, wish: dict[int, Wanted], is_renamed: bool
    ) -> None:
        """Send a heartbeat, by a new connection if the client has none."""
        name, wanted = self.names[group], {self.topics[n]: w for n, w in wish.items()}
        client_id = CLIENT_IDS[client] + ("_renamed" if is_renamed else "")
        clause = self.clause_of_beat(name, client, client_id, wanted)
        subscriptions = [
            subscription_data(
                topic=topic, expression=one.expression, version=one.version
            )
            for topic, one in wanted.items()
        ]
        consumer = consumer_data(group=name, subscriptions=subscriptions)
        speaker = self.speaker(client)
        succeeded(speaker.heartbeat(client_id=client_id, consumers=[consumer]))
        told = self.model.beat(name, client, client_id, wanted)
        self.compare_told(clause, {name: told})

    @rule(client=clients, group=groups)
    def unregister(self, client: int, group: int) -> None:
        """Leave a group in order, also one that the client is not in."""
        name = self.names[group]
        clause = "GROUP-MEMBER-005"
        if client not in self.members(name):
            clause = "GROUP-MEMBER-010"
        succeeded(
            self.speaker(client).unregister_client(
                client_id=CLIENT_IDS[client], consumer_group=name
            )
        )
        self.compare_told(clause, {name: self.model.leave(name, client)})

    @rule(client=clients)
    def close(self, client: int) -> None:
        """Close a connection."""
        speaker = self.speakers.pop(client, None)
        if speaker is not None:
            speaker.close()
            told = self.model.close(client)
            self.wait_until_gone(client)
            self.compare_told("GROUP-MEMBER-006", told)

    @invariant()
    def members_are_those_of_the_model(self) -> None:
        """Compare the lists of members."""
        for name in self.names:
            answer = self.control.consumer_list(group=name)
            expected = sorted(self.members(name).values())
            if not expected:
                code = ResponseCode.SYSTEM_ERROR
                expect_code("GROUP-MEMBER-002", answer, code, self.control.transcript)
                continue
            found = body_of(answer)
            assert isinstance(found, dict)
            expect(
                "GROUP-MEMBER-001",
                found=sorted(found["consumerIdList"]),
                expected=expected,
                what="client ids of the members",
                transcript=self.control.transcript,
            )

    @invariant()
    def subscriptions_are_those_of_the_model(self) -> None:
        """Compare what the groups are subscribed to."""
        for name in self.names:
            group = self.model.groups.get(name)
            answer = self.control.consumer_connections(group=name)
            if group is None:
                code = ResponseCode.CONSUMER_NOT_ONLINE
                clause = "GROUP-CONNECTION-002"
                expect_code(clause, answer, code, self.control.transcript)
                continue
            found = body_of(answer)
            assert isinstance(found, dict)
            self.compare_subscriptions(group, found["subscriptionTable"])

    def compare_subscriptions(
        self, group: Group, found: Mapping[str, Mapping[str, object]]
    ) -> None:
        """Compare the subscriptions of one group, with their versions."""
        expect(
            "GROUP-MEMBER-008",
            found=sorted(found),
            expected=sorted(group.subscriptions),
            what="topics",
            transcript=self.control.transcript,
        )
        expect(
            "GROUP-HEARTBEAT-004",
            found={
                t: (one["subVersion"], one["subString"]) for t, one in found.items()
            },
            expected={t: tuple(one) for t, one in group.subscriptions.items()},
            what="version and expression of each",
            transcript=self.control.transcript,
        )

    def members(self, name: str) -> Mapping[int, str]:
        """Return the client ids of a group's members, by connection."""
        group = self.model.groups.get(name)
        return {} if group is None else group.members

    def speaker(self, client: int) -> Speaker:
        """Return a client's connection, a new one if it has none."""
        if client not in self.speakers:
            self.speakers[client] = self.target.speak_to_broker()
        return self.speakers[client]

    def clause_of_beat(
        self, name: str, client: int, client_id: str, wanted: Mapping[str, Wanted]
    ) -> str:
        """Return the clause that says whom a heartbeat is told to."""
        group = self.model.groups.get(name)
        if group is None or client not in group.members:
            return "GROUP-MEMBER-003"
        if wanted.keys() - group.subscriptions.keys():
            return "GROUP-MEMBER-007"
        if group.subscriptions.keys() - wanted.keys():
            return "GROUP-MEMBER-008"
        is_renamed = group.members[client] != client_id
        return "GROUP-MEMBER-009" if is_renamed else "GROUP-MEMBER-004"

    def compare_told(self, clause: str, told: Mapping[str, list[int]]) -> None:
        """Fail *clause* unless just these were told, each once of each group."""
        for client, speaker in self.speakers.items():
            expected = Counter(name for name, who in told.items() if client in who)
            found: Counter[str] = Counter()

            def is_told(
                speaker: Speaker = speaker,
                found: Counter[str] = found,
                expected: Counter[str] = expected,
            ) -> bool:
                found.update(notices(speaker, self.names[0]))
                return found >= expected

            with suppress(TooLateError):  # the comparison says what is missing
                wait_until(is_told, what="those are told that must be", timeout_s=5)
            expect(
                clause,
                found=sorted(found.elements()),
                expected=sorted(expected.elements()),
                what=f"groups of whose change client {client} was told",
                transcript=speaker.transcript,
            )

    def wait_until_gone(self, client: int) -> None:
        """Wait until the broker has noticed that a connection is closed."""

        def is_gone() -> bool:
            sizes = [len(self.members(name)) for name in self.names]
            return sizes == [_size_of(self.control, name) for name in self.names]

        try:
            wait_until(is_gone, what=f"client {client} is gone", timeout_s=5)
        except TooLateError as late:
            expect("GROUP-MEMBER-006", found=str(late), expected="fewer members")


def notices(speaker: Speaker, group: str) -> list[str]:
    """Return the groups of whose change a client was told until now.

    What a broker has told somebody comes before its answer to a later question.
    """
    speaker.consumer_list(group=group)
    told = []
    while not speaker.peer.is_silent(0):
        told.append(speaker.peer.receive_request(CHANGED).fields["consumerGroup"])
    return told


def _size_of(speaker: Speaker, group: str) -> int:
    answer = speaker.consumer_list(group=group)
    if answer.code != ResponseCode.SUCCESS:
        return 0
    found = body_of(answer)
    assert isinstance(found, dict)
    return len(found["consumerIdList"])


@pytest.mark.clause(
    "GROUP-MEMBER-001",
    "GROUP-MEMBER-002",
    "GROUP-MEMBER-003",
    "GROUP-MEMBER-004",
    "GROUP-MEMBER-005",
    "GROUP-MEMBER-006",
    "GROUP-MEMBER-007",
    "GROUP-MEMBER-008",
    "GROUP-MEMBER-009",
    "GROUP-MEMBER-010",
    "GROUP-CONNECTION-002",
    "GROUP-HEARTBEAT-004",
)
@pytest.mark.needs("wire")
def test_groups_do_what_dictionaries_do(
    target: LiveTarget, pytestconfig: pytest.Config
) -> None:
    run_machine(pytestconfig, lambda: GroupMachine(target), examples=20, steps=20)

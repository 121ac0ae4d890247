"""
Clients join and leave groups in any way; members receive exactly their notifications.

Three clients, two of them of the same name, send heartbeats for two groups with
different subscriptions. They unregister, or their connections close. After every step
the machine compares notifications, members and subscriptions of both groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from conformance.harness.client.client import (
    Client,
    body_of,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.client.peer_errors import ClosedError
from conformance.harness.client.requests.invoker import RefusedError
from conformance.harness.client.transcript import Transcript
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.pytest_plugin.stateful import run_machine
from conformance.harness.targets.shared_target import SharedTarget
from conformance.messaging.groups.members import CHANGED, id_of
from conformance.models.groups import Group, Groups, Wanted
from spec.wire.remoting.response_code import ResponseCode

CLIENT_NAMES = ("first", "second", "first")
"""Names in the client ids of the three connections: two have the same id."""

clients = st.integers(0, len(CLIENT_NAMES) - 1)
groups = st.integers(0, 1)
subscription_sets = st.dictionaries(
    st.integers(0, 2),
    st.builds(Wanted, st.integers(0, 2), st.sampled_from(["*", "a", "a || b"])),
)
"""Subscriptions of a heartbeat, by topic."""


class GroupMachine(RuleBasedStateMachine):
    """Does everything to two groups of a broker, and to a model of them."""

    def __init__(self, target: SharedTarget) -> None:
        super().__init__()
        self.target = target
        self.control = target.connect_to_broker()
        self.model = Groups()
        self.names = [unique_name("group") for _ in range(2)]
        self.topics = [unique_name("wanted") for _ in range(3)]
        self.client_ids = [id_of(name, self.names[0]) for name in CLIENT_NAMES]
        self.connections: dict[int, Client] = {}
        self.senders: dict[str, set[Client]] = {}
        """Connections, also closed ones, on which a client id was sent."""

    def teardown(self) -> None:
        """Close all connections."""
        for connection in (self.control, *self.connections.values()):
            connection.close()

    @rule(
        client=clients,
        group=groups,
        subscribed=subscription_sets,
        is_renamed=st.booleans(),
    )
    def heartbeat(
        self, client: int, group: int, subscribed: dict[int, Wanted], is_renamed: bool
    ) -> None:
        """Send a heartbeat, by a new connection if the client has none."""
        name, wanted = (
            self.names[group],
            {self.topics[n]: w for n, w in subscribed.items()},
        )
        client_id = self.client_ids[client] + ("_renamed" if is_renamed else "")
        clause = self.clause_of_heartbeat(name, client, client_id, wanted)
        subscriptions = [
            subscription_data(
                topic=topic, expression=one.expression, version=one.version
            )
            for topic, one in wanted.items()
        ]
        consumer = consumer_data(group=name, subscriptions=subscriptions)
        connection = self.connection(client)
        self.senders.setdefault(client_id, set()).add(connection)
        with self.expect_open(client):
            require_success(
                connection.heartbeat(client_id=client_id, consumers=[consumer])
            )
        change = connection.transcript.since(0)
        notified = self.model.beat(name, client, client_id, wanted)
        self.compare_notifications(clause, {name: notified}, change)

    @rule(client=clients, group=groups)
    def unregister(self, client: int, group: int) -> None:
        """Leave a group in order, also one that the client is not in."""
        name = self.names[group]
        clause = "GROUP-MEMBER-005"
        if client not in self.members(name):
            clause = "GROUP-MEMBER-010"
        connection = self.connection(client)
        with self.expect_open(client):
            require_success(
                connection.unregister_client(
                    client_id=self.client_ids[client], consumer_group=name
                )
            )
        change = connection.transcript.since(0)
        notified = self.model.leave(name, client)
        self.compare_notifications(clause, {name: notified}, change)

    @rule(client=clients)
    def close(self, client: int) -> None:
        """Close a connection."""
        connection = self.connections.pop(client, None)
        if connection is not None:
            connection.close()
            notified = self.model.close(client)
            self.wait_until_gone(client)
            self.compare_notifications(
                "GROUP-MEMBER-006", notified, sent=f"the close of client {client}"
            )

    @invariant()
    def members_are_those_of_the_model(self) -> None:
        """Compare the lists of members."""
        for name in self.names:
            response = self.control.consumer_list(group=name)
            expected = sorted(self.members(name).values())
            if not expected:
                code = ResponseCode.SYSTEM_ERROR
                expect_code("GROUP-MEMBER-002", response, code, self.control.transcript)
                continue
            found = body_of(response)
            assert isinstance(found, dict)
            ids = found["consumerIdList"]
            expect(
                "GROUP-MEMBER-001",
                found=sorted(set(ids)),
                expected=sorted(set(expected)),
                what="client ids of the members",
                transcript=self.control.transcript,
            )
            expect(
                "GROUP-MEMBER-012",
                found=sorted(ids),
                expected=expected,
                what="client ids of the members, one for each connection",
                transcript=self.control.transcript,
            )

    @invariant()
    def subscriptions_are_those_of_the_model(self) -> None:
        """Compare what the groups are subscribed to."""
        for name in self.names:
            group = self.model.groups.get(name)
            response = self.control.consumer_connections(group=name)
            if group is None:
                code = ResponseCode.CONSUMER_NOT_ONLINE
                clause = "GROUP-CONNECTION-002"
                expect_code(clause, response, code, self.control.transcript)
                continue
            found = body_of(response)
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

    def connection(self, client: int) -> Client:
        """Return a client's connection, a new one if it has none."""
        if client not in self.connections:
            self.connections[client] = self.target.connect_to_broker()
        return self.connections[client]

    def clause_of_heartbeat(
        self, name: str, client: int, client_id: str, wanted: Mapping[str, Wanted]
    ) -> str:
        """Return the clause about the notifications of a heartbeat."""
        group = self.model.groups.get(name)
        if group is None or client not in group.members:
            return "GROUP-MEMBER-003"
        if wanted.keys() - group.subscriptions.keys():
            return "GROUP-MEMBER-007"
        if group.subscriptions.keys() - wanted.keys():
            return "GROUP-MEMBER-008"
        is_renamed = group.members[client] != client_id
        return "GROUP-MEMBER-009" if is_renamed else "GROUP-MEMBER-004"

    def compare_notifications(
        self,
        clause: str,
        notified: Mapping[str, list[int]],
        change: Transcript | None = None,
        *,
        sent: str = "",
    ) -> None:
        """Fail *clause* unless just these were notified, each once of each group.

        A failure shows *change*, the frames up to the request that changed a group,
        or *sent*, the change in words. The later requests only wait.
        """
        for client, connection in self.connections.items():
            expected = Counter(name for name, who in notified.items() if client in who)
            found: Counter[str] = Counter()

            def is_notified(
                connection: Client = connection,
                found: Counter[str] = found,
                expected: Counter[str] = expected,
            ) -> bool:
                found.update(notices(connection, self.names[0]))
                return found >= expected

            # The comparison reports the difference.
            with suppress(TooLateError), self.expect_open(client):
                wait_until(
                    is_notified, what="the expected members are notified", timeout_s=5
                )
            expect(
                clause,
                found=sorted(found.elements()),
                expected=sorted(expected.elements()),
                what=f"groups of whose change client {client} was notified",
                transcript=change or connection.transcript,
                sent=sent,
            )

    def wait_until_gone(self, client: int) -> None:
        """Wait until the broker has detected that a connection is closed."""

        def is_gone() -> bool:
            sizes = [len(self.members(name)) for name in self.names]
            return sizes == [_size_of(self.control, name) for name in self.names]

        try:
            wait_until(is_gone, what=f"client {client} is gone", timeout_s=5)
        except TooLateError as late:
            expect(
                "GROUP-MEMBER-006",
                found=str(late),
                expected="fewer members",
                transcript=self.control.transcript,
            )

    @contextmanager
    def expect_open(self, client: int) -> Iterator[None]:
        """Fail GROUP-MEMBER-011 if the broker closes a client's connection.

        So does a refusal on a connection whose client id another one has sent, too.
        """
        try:
            yield
        except RefusedError as error:
            if all(len(self.senders[one]) == 1 for one in self.ids_sent_by(client)):
                raise
            expect(
                "GROUP-MEMBER-011",
                found=str(error),
                expected=f"{ResponseCode.SUCCESS:d} SUCCESS",
                what=f"client {client}, whose client id another connection has sent",
                transcript=self.connections[client].transcript,
            )
        except ClosedError as error:
            expect(
                "GROUP-MEMBER-011",
                found=error.reason,
                expected="an open connection",
                what=f"client {client}{self.sharers_of(client)}",
                transcript=error.transcript,
            )

    def sharers_of(self, client: int) -> str:
        """Return in words which clients have sent a client id of *client*, too."""
        own = self.ids_sent_by(client)
        shared = {
            other: sorted(own & self.ids_sent_by(other))
            for other in self.connections
            if other != client
        }
        return "".join(
            f", whose client id {' and '.join(ids)} client {other} has, too"
            for other, ids in shared.items()
            if ids
        )

    def ids_sent_by(self, client: int) -> set[str]:
        """Return the client ids of the heartbeats on a client's open connection."""
        connection = self.connections.get(client)
        return {one for one, senders in self.senders.items() if connection in senders}


def notices(connection: Client, group: str) -> list[str]:
    """Return the groups of whose change a client was notified until now.

    The broker sends a notification before its response to a later request.
    """
    connection.consumer_list(group=group)
    notified = []
    while not connection.peer.is_silent(0):
        notified.append(
            connection.peer.receive_request(CHANGED).fields["consumerGroup"]
        )
    return notified


def _size_of(connection: Client, group: str) -> int:
    response = connection.consumer_list(group=group)
    if response.code != ResponseCode.SUCCESS:
        return 0
    found = body_of(response)
    assert isinstance(found, dict)
    return len(found["consumerIdList"])


@pytest.mark.long
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
    "GROUP-MEMBER-011",
    "GROUP-MEMBER-012",
    "GROUP-CONNECTION-002",
    "GROUP-HEARTBEAT-004",
)
@pytest.mark.needs("wire")
def test_groups_do_what_dictionaries_do(
    target: SharedTarget, pytestconfig: pytest.Config
) -> None:
    run_machine(pytestconfig, lambda: GroupMachine(target), examples=20, steps=20)

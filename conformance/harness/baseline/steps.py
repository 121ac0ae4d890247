"""Steps of the baseline, in their order: one request and the clause about it each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.harness.baseline.plain_requests import PlainRequests
from spec.wire.remoting.request_code import RequestCode

ROUTE_STEP, NEW_ROUTE_STEP = "the route of a topic", "the route of a new topic"
SENDS = (RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request of the baseline."""

    name: str
    clause: str
    """The clause that is not met where the request fails as a whole."""
    run: Callable[[PlainRequests], None]
    codes: tuple[int, ...] = ()
    """Codes of the requests that depend on it; empty for all."""
    needs: tuple[str, ...] = ()
    """Steps without which it makes no sense."""
    writes: bool = True
    is_narrow: bool = False
    """Whether its defect concerns only tests in whose frames it is seen.

    Without a sign in `signs`, it concerns none.
    """
    refusal_clause: str = ""
    """The clause about the success of the request; empty if it is *clause*."""


STEPS = (
    Step(
        name="a request to the name server",
        clause="WIRE-FRAME-001",
        run=PlainRequests.check_name_server_frame,
        writes=False,
    ),
    Step(
        name="a request to the broker",
        clause="WIRE-FRAME-001",
        run=PlainRequests.check_broker_frame,
        writes=False,
    ),
    Step(
        name="a refused request",
        clause="WIRE-COMMAND-003",
        run=PlainRequests.check_refusals,
        needs=("a request to the broker",),
        writes=False,
        is_narrow=True,
    ),
    Step(
        name="a oneway request",
        clause="WIRE-COMMAND-002",
        run=PlainRequests.check_oneway,
        needs=("a request to the broker",),
        writes=False,
        is_narrow=True,
    ),
    Step(
        name="a request with a ROCKETMQ header",
        clause="WIRE-BINARY-001",
        run=PlainRequests.check_binary_header,
        needs=("a request to the broker",),
        writes=False,
        is_narrow=True,
    ),
    Step(
        name="a request with an unreadable body",
        clause="WIRE-COMMAND-009",
        run=PlainRequests.check_failure,
        needs=("a request to the broker",),
        writes=False,
        is_narrow=True,
    ),
    Step(
        name="an unknown request to the broker",
        clause="WIRE-CONN-003",
        run=PlainRequests.check_broker_responds,
        needs=("a request to the broker",),
        writes=False,
        is_narrow=True,
    ),
    Step(
        name="an unknown request to a broker up to 4.9.0",
        clause="WIRE-CONN-002",
        run=PlainRequests.check_broker_stays_open,
        needs=("a request to the broker",),
        writes=False,
        is_narrow=True,
    ),
    Step(
        name="an unknown request to the name server",
        clause="WIRE-CONN-005",
        run=PlainRequests.check_name_server_responds,
        needs=("a request to the name server",),
        writes=False,
        is_narrow=True,
    ),
    Step(
        name="an unknown request to a name server up to 4.9",
        clause="WIRE-CONN-004",
        run=PlainRequests.check_name_server_stays_open,
        needs=("a request to the name server",),
        writes=False,
        is_narrow=True,
    ),
    Step(
        name="a request by the broker's name",
        clause="WIRE-FRAME-001",
        run=PlainRequests.check_named_broker,
        codes=(RequestCode.GET_MAX_OFFSET,),
        needs=("a request to the broker",),
        writes=False,
        refusal_clause="OFFSET-MAX-001",
    ),
    Step(
        name="the route of an unknown topic",
        clause="ROUTE-DATA-003",
        run=PlainRequests.check_unknown_route,
        codes=(RequestCode.GET_ROUTEINFO_BY_TOPIC,),
        needs=("a request to the name server",),
        writes=False,
        is_narrow=True,
    ),
    Step(
        name="a value of the KV configuration",
        clause="ROUTE-KV-001",
        run=PlainRequests.check_kv_config,
        codes=(RequestCode.PUT_KV_CONFIG, RequestCode.GET_KV_CONFIG),
        needs=("a request to the name server",),
    ),
    Step(
        name="a pull from an unknown topic",
        clause="PULL-TOPIC-001",
        run=PlainRequests.check_unknown_pull,
        codes=(RequestCode.PULL_MESSAGE,),
        needs=("a request by the broker's name",),
        is_narrow=True,
    ),
    Step(
        name="the creation of a topic",
        clause="ADMIN-TOPIC-001",
        run=PlainRequests.create_topic,
        codes=(RequestCode.UPDATE_AND_CREATE_TOPIC,),
        needs=("a request to the broker",),
    ),
    Step(
        name=ROUTE_STEP,
        clause="ROUTE-DATA-001",
        run=PlainRequests.check_route,
        codes=(RequestCode.GET_ROUTEINFO_BY_TOPIC,),
        needs=("a request to the name server", "the creation of a topic"),
    ),
    Step(
        name=NEW_ROUTE_STEP,
        clause="ROUTE-OUTERAPI-005",
        run=PlainRequests.check_new_route,
        codes=(RequestCode.GET_ROUTEINFO_BY_TOPIC,),
        needs=(ROUTE_STEP,),
    ),
    Step(
        name="the send of a message",
        clause="SEND-RESPONSE-001",
        run=PlainRequests.send,
        codes=SENDS,
        needs=("the creation of a topic",),
    ),
    Step(
        name="the max offset of a queue",
        clause="OFFSET-MAX-001",
        run=PlainRequests.check_max_offset,
        codes=(RequestCode.GET_MAX_OFFSET,),
        needs=("the send of a message",),
    ),
    Step(
        name="the units of a consume queue",
        clause="STORE-QUEUE-003",
        run=PlainRequests.check_units,
        # The broker itself reads the queues of delayed and of half messages.
        codes=SENDS,
        needs=("the send of a message",),
    ),
    Step(
        name="the min offset of a queue",
        clause="OFFSET-MIN-001",
        run=PlainRequests.check_min_offset,
        codes=(RequestCode.GET_MIN_OFFSET,),
        needs=("the send of a message",),
    ),
    Step(
        name="a pull",
        clause="PULL-FOUND-001",
        run=PlainRequests.check_pull,
        codes=(RequestCode.PULL_MESSAGE,),
        needs=("the send of a message", "the units of a consume queue"),
    ),
    Step(
        name="a pull that commits nothing",
        clause="PULL-COMMIT-002",
        run=PlainRequests.check_pull_commits_nothing,
        codes=(RequestCode.PULL_MESSAGE,),
        needs=("a pull",),
        is_narrow=True,
    ),
    Step(
        name="the view of a message by its id",
        clause="QUERY-ID-001",
        run=PlainRequests.check_view,
        codes=(RequestCode.VIEW_MESSAGE_BY_ID,),
        needs=("the send of a message",),
    ),
    Step(
        name="the commit of a half message",
        clause="TXN-END-001",
        run=PlainRequests.check_commit,
        codes=(RequestCode.END_TRANSACTION,),
        needs=("the max offset of a queue",),
    ),
    Step(
        name="a pop",
        clause="POP-GET-001",
        run=PlainRequests.check_pop,
        codes=(RequestCode.POP_MESSAGE,),
        needs=("the creation of a topic",),
    ),
)

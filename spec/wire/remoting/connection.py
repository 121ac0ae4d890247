"""
A connection carries commands both ways, until either side closes it.

Its client sends requests and the server responds, but a broker sends requests to its
clients too. There is no greeting: the first bytes are the first frame. A peer's
treatment of unknown requests and invalid bytes decides whether one bad client disturbs
the others.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_COMMAND = "4.6.0 org.apache.rocketmq.remoting.protocol.RemotingCommand"
_REMOTING = "4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
_DECODER = "4.6.0 org.apache.rocketmq.remoting.netty.NettyDecoder"

VIP_PORT_DISTANCE = 2
"""A broker's port for producers lies this far below its own (Java: VIP channel)."""
IDLE_LIMIT_S = 120
"""A connection on which nothing happens for so long is closed."""

PIPELINING = Clause(
    id="WIRE-CONN-001",
    level=Level.MUST,
    text=(
        "A client may send requests before the responses to earlier ones arrive, and "
        "every request is answered."
    ),
    source=f"{_REMOTING}#processRequestCommand",
)
UNKNOWN_CODE_TO_BROKER_SILENT = Clause(
    id="WIRE-CONN-002",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.0, a broker leaves a request with an unknown code unanswered and "
        "keeps the connection."
    ),
    source="4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#processRequest",
    until="4.9.0",
    issues=("mxsm/rocketmq-rust#4569",),
)
UNKNOWN_CODE_TO_BROKER = Clause(
    id="WIRE-CONN-003",
    level=Level.MUST,
    text=(
        "From 4.9.1 on, a broker answers a request with an unknown code with "
        "REQUEST_CODE_NOT_SUPPORTED (3)."
    ),
    source="4.9.7 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#getUnknownCmdResponse",
    since="4.9.1",
    issues=("mxsm/rocketmq-rust#3918",),
)
UNKNOWN_CODE_TO_NAME_SERVER_SILENT = Clause(
    id="WIRE-CONN-004",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a name server leaves a request with an unknown code unanswered "
        "and keeps the connection."
    ),
    source="4.6.0 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#processRequest",
    until="4.9",
)
UNKNOWN_CODE_TO_NAME_SERVER = Clause(
    id="WIRE-CONN-005",
    level=Level.MUST,
    text=(
        "From 5.0 on, a name server answers a request with an unknown code with "
        "REQUEST_CODE_NOT_SUPPORTED (3)."
    ),
    source="5.3.3 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#processRequest",
    since="5.0",
)
ANY_LANGUAGE = Clause(
    id="WIRE-CONN-006",
    level=Level.MUST,
    text=(
        "A request is served regardless of its header's language, even if that is "
        "unknown or missing."
    ),
    source=f"{_COMMAND}#headerDecode",
    issues=(
        "apache/rocketmq-client-go#638",
        "apache/rocketmq-client-go#747",
    ),
)
ANY_VERSION = Clause(
    id="WIRE-CONN-007",
    level=Level.MUST,
    text=(
        "A request is served regardless of its header's version, even if that is "
        "missing or negative. So is a request without a flag."
    ),
    source=f"{_COMMAND}#headerDecode",
)
REQUEST_REMARK = Clause(
    id="WIRE-CONN-008",
    level=Level.MUST,
    text="A request's remark changes nothing.",
    source=f"{_COMMAND}#remark",
)
ABSENT_OPAQUE = Clause(
    id="WIRE-CONN-009",
    level=Level.QUIRK,
    text="A request without an opaque is answered with an opaque that the server makes"
    " up.",
    source=f"{_COMMAND}#opaque",
)
NUMBER_TOO_LARGE = Clause(
    id="WIRE-CONN-010",
    level=Level.MUST,
    text=(
        "A peer closes the connection on which a number of a header does not fit 32 "
        "bits."
    ),
    source=f"{_DECODER}#decode",
)
NUMBER_AS_STRING = Clause(
    id="WIRE-CONN-011",
    level=Level.QUIRK,
    text="A number of a JSON header may stand in quotes.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#decode",
)
LENIENT_JSON = Clause(
    id="WIRE-CONN-012",
    level=Level.QUIRK,
    text=(
        "Up to 5.3, a JSON header may have single quotes, bare names, a comma after "
        "the last member and comments."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#decode",
    until="5.3",
)
JSON_WITH_TAIL = Clause(
    id="WIRE-CONN-013",
    level=Level.MUST,
    text="A peer closes the connection on which anything but white space follows a"
    " header's JSON object.",
    source=f"{_DECODER}#decode",
)
OWN_LANGUAGE_AND_VERSION = Clause(
    id="WIRE-CONN-014",
    level=Level.MUST,
    text=(
        "A response has the language and version of the peer that answers, not those "
        "of the request."
    ),
    source=f"{_COMMAND}#setCmdVersion",
)
SUPERFLUOUS_BODY = Clause(
    id="WIRE-CONN-015",
    level=Level.MUST,
    text="An unneeded body of a request changes nothing.",
    source=f"{_COMMAND}#decode",
)
REQUIRED_FIELD = Clause(
    id="WIRE-CONN-016",
    level=Level.MUST,
    text=(
        "A request that lacks a necessary header field is answered with SYSTEM_ERROR "
        "(1)."
    ),
    source=f"{_REMOTING}#processRequestCommand",
    issues=("amigoer/mq-studio#45",),
)
NUMBER_FIELD = Clause(
    id="WIRE-CONN-017",
    level=Level.MUST,
    text=(
        "A request whose required integer header field is not an integer is answered "
        "with SYSTEM_ERROR (1)."
    ),
    source=f"{_COMMAND}#decodeCommandCustomHeader",
)
FIELD_NAMES_HAVE_CASE = Clause(
    id="WIRE-CONN-018",
    level=Level.MUST,
    text="Names of header fields are case-sensitive.",
    source=f"{_COMMAND}#decodeCommandCustomHeader",
)
ONEWAY_FAILURE = Clause(
    id="WIRE-CONN-019",
    level=Level.MUST,
    text="A oneway request that fails gets no response.",
    source=f"{_REMOTING}#processRequestCommand",
)
BAD_FRAME_KEEPS_MESSAGES = Clause(
    id="WIRE-CONN-020",
    level=Level.MUST,
    text=(
        "A bad frame reverts nothing: messages that were acknowledged before it are "
        "delivered."
    ),
    source=f"{_DECODER}#decode",
)
CUT_FRAME_IS_NOT_DONE = Clause(
    id="WIRE-CONN-021",
    level=Level.MUST,
    text="A request that is incomplete when its connection closes is not executed.",
    source=f"{_DECODER}#decode",
)
REQUESTS_BEFORE_BAD_FRAME = Clause(
    id="WIRE-CONN-022",
    level=Level.SHOULD,
    text="A whole request before a bad frame in the same bytes is executed.",
    source=f"{_DECODER}#decode",
)
VIP_PORT = Clause(
    id="WIRE-CONN-023",
    level=Level.MUST,
    text="A broker also accepts messages at the port two below its own.",
    source="4.6.0 org.apache.rocketmq.broker.BrokerController#fastRemotingServer",
    issues=("apache/rocketmq#10289", "apache/rocketmq#568"),
)
IDLE_CLOSE = Clause(
    id="WIRE-CONN-024",
    level=Level.SHOULD,
    text="A connection on which nothing is sent or received for 120 seconds is closed,"
    " also one on which nothing ever was.",
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyServerConfig"
    "#serverChannelMaxIdleTimeSeconds",
)
NO_GREETING = Clause(
    id="WIRE-CONN-025",
    level=Level.MUST,
    text="Nothing is sent on a new connection before the client's first request.",
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingServer#start",
)
INVALID_UTF8 = Clause(
    id="WIRE-CONN-026",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, bytes of a JSON header that are not UTF-8 are read as some other "
        "character."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#decode",
    until="4.9",
)
INVALID_UTF8_CLOSES = Clause(
    id="WIRE-CONN-027",
    level=Level.MUST,
    text=(
        "From 5.0 on, a peer closes the connection on which a JSON header that is "
        "not UTF-8 arrives."
    ),
    source="5.3.3 org.apache.rocketmq.remoting.protocol.RemotingSerializable#decode",
    since="5.0",
)
UNUSED_FIELDS = Clause(
    id="WIRE-CONN-028",
    level=Level.MUST,
    text="Header fields that a request's code does not define change nothing.",
    source=f"{_COMMAND}#decodeCommandCustomHeader",
    issues=("mxsm/rocketmq-rust#8944",),
)

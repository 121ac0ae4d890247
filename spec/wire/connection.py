"""
A connection carries commands both ways, for as long as both sides like.

Whoever opened it asks and the other answers, but a broker asks its clients too.
Nothing is said at the beginning: the first bytes are the first frame. What a peer
does with requests it does not know, and with bytes that it cannot read, decides
whether one bad client disturbs the others.
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
    text="A client may send requests before the answers to earlier ones have come, and"
    " every one is answered.",
    source=f"{_REMOTING}#processRequestCommand",
)
UNKNOWN_CODE_TO_BROKER_SILENT = Clause(
    id="WIRE-CONN-002",
    level=Level.QUIRK,
    text="A broker leaves a request with an unknown code unanswered and keeps the"
    " connection.",
    source="4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#processRequest",
    until="4.9.1",
    issues=("mxsm/rocketmq-rust#4569",),
)
UNKNOWN_CODE_TO_BROKER = Clause(
    id="WIRE-CONN-003",
    level=Level.MUST,
    text="A broker answers a request with an unknown code REQUEST_CODE_NOT_SUPPORTED"
    " (3).",
    source="4.9.7 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#getUnknownCmdResponse",
    since="4.9.2",
    issues=("mxsm/rocketmq-rust#3918",),
)
UNKNOWN_CODE_TO_NAME_SERVER_SILENT = Clause(
    id="WIRE-CONN-004",
    level=Level.QUIRK,
    text="A name server leaves a request with an unknown code unanswered and keeps the"
    " connection.",
    source="4.6.0 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#processRequest",
    until="4.9",
)
UNKNOWN_CODE_TO_NAME_SERVER = Clause(
    id="WIRE-CONN-005",
    level=Level.MUST,
    text="A name server answers a request with an unknown code"
    " REQUEST_CODE_NOT_SUPPORTED (3).",
    source="5.3.3 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#processRequest",
    since="5.0",
)
ANY_LANGUAGE = Clause(
    id="WIRE-CONN-006",
    level=Level.MUST,
    text="A request is served whatever language its header names, also one that nobody"
    " knows or none.",
    source=f"{_COMMAND}#headerDecode",
    issues=(
        "apache/rocketmq-client-go#638",
        "apache/rocketmq-client-go#747",
    ),
)
ANY_VERSION = Clause(
    id="WIRE-CONN-007",
    level=Level.MUST,
    text="A request is served whatever version its header has, also none or a negative"
    " one.",
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
    text="A peer closes the connection on which a header's number does not fit 32"
    " bits.",
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
    text="A JSON header may have single quotes, bare names, a comma after the last"
    " member and comments.",
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
    text="A response names the language and version of the peer that answers, not those"
    " of the request.",
    source=f"{_COMMAND}#setCmdVersion",
)
SUPERFLUOUS_BODY = Clause(
    id="WIRE-CONN-015",
    level=Level.MUST,
    text="A body on a request that needs none changes nothing.",
    source=f"{_COMMAND}#decode",
)
REQUIRED_FIELD = Clause(
    id="WIRE-CONN-016",
    level=Level.MUST,
    text="A request that lacks a header field without which it cannot be done is"
    " answered SYSTEM_ERROR (1).",
    source=f"{_REMOTING}#processRequestCommand",
    issues=("amigoer/mq-studio#45",),
)
NUMBER_FIELD = Clause(
    id="WIRE-CONN-017",
    level=Level.MUST,
    text="A request whose required header field should be an integer and is not is"
    " answered SYSTEM_ERROR (1).",
    source=f"{_COMMAND}#decodeCommandCustomHeader",
)
FIELD_NAMES_HAVE_CASE = Clause(
    id="WIRE-CONN-018",
    level=Level.MUST,
    text="Names of header fields are told apart by case.",
    source=f"{_COMMAND}#decodeCommandCustomHeader",
)
ONE_WAY_FAILURE = Clause(
    id="WIRE-CONN-019",
    level=Level.MUST,
    text="A oneway request that fails is not answered either.",
    source=f"{_REMOTING}#processRequestCommand",
)
BAD_FRAME_KEEPS_MESSAGES = Clause(
    id="WIRE-CONN-020",
    level=Level.MUST,
    text="A bad frame takes nothing back: messages that were acknowledged before it are"
    " delivered.",
    source=f"{_DECODER}#decode",
)
CUT_FRAME_IS_NOT_DONE = Clause(
    id="WIRE-CONN-021",
    level=Level.MUST,
    text="A request of which not all bytes came before its connection closed is not"
    " acted on.",
    source=f"{_DECODER}#decode",
)
REQUESTS_BEFORE_BAD_FRAME = Clause(
    id="WIRE-CONN-022",
    level=Level.SHOULD,
    text="A whole request that lies before a bad frame in the same bytes is acted on.",
    source=f"{_DECODER}#decode",
)
VIP_PORT = Clause(
    id="WIRE-CONN-023",
    level=Level.MUST,
    text="A broker also takes messages at the port two below its own.",
    source="4.6.0 org.apache.rocketmq.broker.BrokerController#fastRemotingServer",
    issues=("apache/rocketmq#10289", "apache/rocketmq#568"),
)
IDLE_CLOSE = Clause(
    id="WIRE-CONN-024",
    level=Level.SHOULD,
    text="A connection on which nothing is sent or received for 120 seconds is closed.",
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
    text="Bytes of a JSON header that are not UTF-8 are read as some other character.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#decode",
    until="4.9",
)
INVALID_UTF8_CLOSES = Clause(
    id="WIRE-CONN-027",
    level=Level.MUST,
    text="A peer closes the connection on which a JSON header that is not UTF-8"
    " arrives.",
    source="5.3.3 org.apache.rocketmq.remoting.protocol.RemotingSerializable#decode",
    since="5.0",
)
UNUSED_FIELDS = Clause(
    id="WIRE-CONN-028",
    level=Level.MUST,
    text="Header fields that a request's code does not know change nothing.",
    source=f"{_COMMAND}#decodeCommandCustomHeader",
    issues=("mxsm/rocketmq-rust#8944",),
)

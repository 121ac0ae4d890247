"""
A command is a request or a response: the content of a frame's header and body.

The header has the same seven fields in both of its formats. The *opaque* connects a
response with its request. The command's code defines the *fields* (Java: extFields).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as member
from enum import IntFlag

from msgspec.structs import asdict

from spec.clause import Clause, Level
from spec.layout import LayoutError
from spec.wire.remoting.frame import Frame, SerializeType, decode_frame, encode_frame
from spec.wire.remoting.header_json import (
    CommandHeader,
    decode_json_header,
    encode_json_header,
)
from spec.wire.remoting.header_rocketmq import (
    decode_rocketmq_header,
    encode_rocketmq_header,
)
from spec.wire.remoting.language import Version

_COMMAND = "4.6.0 org.apache.rocketmq.remoting.protocol.RemotingCommand"
_REMOTING = "4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"


class CommandFlag(IntFlag):
    """Bits of a command's flag; others may be set too."""

    RESPONSE = 1 << 0
    """The command answers a request (Java: RPC_TYPE)."""
    ONEWAY = 1 << 1
    """The request gets no response (Java: RPC_ONEWAY)."""


RESPONSE_SETS_BIT_0 = Clause(
    id="WIRE-COMMAND-001",
    level=Level.MUST,
    text="Bit 0 of a command's flag is set in a response and clear in a request.",
    source=f"{_COMMAND}#markResponseType",
)
ONEWAY_HAS_NO_RESPONSE = Clause(
    id="WIRE-COMMAND-002",
    level=Level.MUST,
    text=(
        "A request with bit 1 (RPC_ONEWAY) of its flag set is executed and gets no "
        "response."
    ),
    source=f"{_REMOTING}#processRequestCommand",
)
OPAQUE_IS_REPEATED = Clause(
    id="WIRE-COMMAND-003",
    level=Level.MUST,
    text="A response has the opaque of its request.",
    source=f"{_REMOTING}#processRequestCommand",
    issues=(
        "apache/rocketmq#10280",
        "apache/rocketmq#10281",
    ),
)
OPAQUE_IS_ANY_INT = Clause(
    id="WIRE-COMMAND-004",
    level=Level.MUST,
    text="An opaque is any 32-bit integer, including negative and repeated ones.",
    source=f"{_COMMAND}#requestId",
)
RESPONSES_IN_ANY_ORDER = Clause(
    id="WIRE-COMMAND-005",
    level=Level.MAY,
    text="Requests on one connection may be answered in another order than theirs.",
    source=f"{_REMOTING}#processRequestCommand",
    untestable="it allows, and demands nothing",
)
UNKNOWN_OPAQUE = Clause(
    id="WIRE-COMMAND-006",
    level=Level.MUST,
    text=(
        "A response with an opaque for which no request waits is dropped, and the "
        "connection stays open."
    ),
    source=f"{_REMOTING}#processResponseCommand",
)
MISSING_FIELD_IS_DEFAULT = Clause(
    id="WIRE-COMMAND-007",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a missing required header field is not refused by name: the peer "
        "continues with Java's null, 0 or false in its place."
    ),
    source=f"{_COMMAND}#decodeCommandCustomHeader",
    until="4.9",
)
PULL_FIELDS_FOR_SOME = Clause(
    id="WIRE-COMMAND-013",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.3, PULL_MESSAGE (11) may lack suspendTimeoutMillis without "
        "FLAG_SUSPEND, commitOffset without FLAG_COMMIT_OFFSET, and subVersion with "
        "FLAG_SUBSCRIPTION."
    ),
    source="4.6.0 org.apache.rocketmq.broker.processor.PullMessageProcessor"
    "#processRequest",
    until="4.9.3",
)
UNREADABLE_FIELD_IS_DEFAULT = Clause(
    id="WIRE-COMMAND-008",
    level=Level.QUIRK,
    text=(
        "A header field whose text is not a number but should be one counts as missing."
    ),
    source=f"{_COMMAND}#decodeCommandCustomHeader",
)
FAILURE_IS_SYSTEM_ERROR = Clause(
    id="WIRE-COMMAND-009",
    level=Level.MUST,
    text=(
        "A request whose processing fails unexpectedly, for example one with an "
        "unreadable JSON body, is answered with SYSTEM_ERROR (1) and a remark, and the "
        "connection stays open."
    ),
    source=f"{_REMOTING}#processRequestCommand",
)
UNKNOWN_FLAG_BITS = Clause(
    id="WIRE-COMMAND-010",
    level=Level.MUST,
    text="Bits of a command's flag other than 0 and 1 change nothing.",
    source=f"{_COMMAND}#isOnewayRPC",
)
ONE_RESPONSE = Clause(
    id="WIRE-COMMAND-011",
    level=Level.MUST,
    text="A request gets one response and no second one.",
    source=f"{_REMOTING}#processRequestCommand",
)
RESPONSE_IN_TIME = Clause(
    id="WIRE-COMMAND-012",
    level=Level.SHOULD,
    text=(
        "A request that the peer does not hold gets its response within 3 seconds, the "
        "default sendMsgTimeout of clients."
    ),
    source="4.6.0 org.apache.rocketmq.client.producer.DefaultMQProducer#sendMsgTimeout",
)


@dataclass(frozen=True, slots=True)
class Command:
    """A request or a response."""

    code: int
    """A RequestCode or, in a response, a ResponseCode; others survive too."""
    opaque: int = 0
    flag: int = 0
    """Bits of CommandFlag."""
    language: str = "OTHER"
    """Name of a LanguageCode; JSON may carry any name."""
    version: int = int(Version.V4_6_0)
    remark: str | None = None
    """Words for people; the reason, in a response that is no success."""
    fields: Mapping[str, str] = member(default_factory=dict)
    """Fields of the code (Java: extFields)."""
    body: bytes = b""
    serialize_type: int = SerializeType.JSON

    @property
    def is_response(self) -> bool:
        """Whether the command answers a request."""
        return bool(self.flag & CommandFlag.RESPONSE)

    @property
    def is_oneway(self) -> bool:
        """Whether the request gets no response."""
        return bool(self.flag & CommandFlag.ONEWAY)


def encode_command(command: Command) -> bytes:
    """Return the whole frame of *command*."""
    header = {
        "code": command.code,
        "language": command.language,
        "version": command.version,
        "opaque": command.opaque,
        "flag": command.flag,
        "remark": command.remark,
        "fields": command.fields,
    }
    if command.serialize_type == SerializeType.ROCKETMQ:
        data = encode_rocketmq_header(header)
    else:
        data = encode_json_header(header)
    return encode_frame(
        Frame(serialize_type=command.serialize_type, header=data, body=command.body)
    )


def decode_command(data: bytes | bytearray | memoryview) -> Command:
    """Return the command of the whole frame *data*; LayoutError if it is invalid."""
    return command_of(decode_frame(data))


def command_of(frame: Frame) -> Command:
    """Return the command in *frame*; LayoutError where its header is unreadable."""
    header = command_header(frame.serialize_type, frame.header)
    return Command(
        **asdict(header), body=frame.body, serialize_type=frame.serialize_type
    )


def command_header(serialize_type: int, data: bytes) -> CommandHeader:
    """Return the members of a header; LayoutError where it is malformed."""
    if serialize_type == SerializeType.JSON:
        return decode_json_header(data)
    if serialize_type == SerializeType.ROCKETMQ:
        return CommandHeader(**decode_rocketmq_header(data))
    reason = f"{serialize_type} is no notation of a header"
    raise LayoutError(reason, field="serialize_type", offset=4)

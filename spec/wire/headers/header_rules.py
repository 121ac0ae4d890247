"""
Permitted changes of headers and codes in a newer release, for the sake of older peers.

Clusters are upgraded one peer at a time, and clients stay for years: a field or code
must keep its meaning. Each rule is a clause; ``evolution`` checks them on the header
tables of the releases.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.clause import Clause, Level

COMPACT_CODE_MAX = 32_767
"""The greatest code that the two bytes of a ROCKETMQ header carry."""

_BETWEEN_RELEASES = (
    "it is about releases, not about a peer: `rmqc spec evolution` checks the tables"
)
_READER = "5.3.3 org.apache.rocketmq.remoting.protocol.RemotingCommand"

NOT_REQUIRED_LATER = Clause(
    id="WIRE-HEADER-001",
    level=Level.SHOULD,
    text="A newer release requires no field of a header that an older one does not"
    " always send in it.",
    source=f"{_READER}#decodeCommandCustomHeaderDirectly",
    issues=("apache/rocketmq#10168",),
    untestable=_BETWEEN_RELEASES,
)
NOT_RENAMED = Clause(
    id="WIRE-HEADER-002",
    level=Level.SHOULD,
    text=(
        "A header field keeps its name: fields are found by name, and a missing one "
        "has its default."
    ),
    source=f"{_READER}#decodeCommandCustomHeaderDirectly",
    untestable=_BETWEEN_RELEASES,
)
NOT_REMOVED = Clause(
    id="WIRE-HEADER-003",
    level=Level.SHOULD,
    text="A newer release removes no header field, and no code that an older one uses.",
    source=f"{_READER}#decodeCommandCustomHeaderDirectly",
    untestable=_BETWEEN_RELEASES,
)
NOT_NARROWED = Clause(
    id="WIRE-HEADER-004",
    level=Level.SHOULD,
    text="A header field's type keeps every value that it had.",
    source=f"{_READER}#decodeCommandCustomHeaderDirectly",
    untestable=_BETWEEN_RELEASES,
)
NOT_REUSED = Clause(
    id="WIRE-HEADER-005",
    level=Level.SHOULD,
    text="A code's number never gets another meaning, and a code keeps its number.",
    source="5.3.3 org.apache.rocketmq.remoting.protocol.ResponseCode#POLLING_FULL",
    untestable=_BETWEEN_RELEASES,
)
CODE_FITS = Clause(
    id="WIRE-HEADER-006",
    level=Level.SHOULD,
    text="A code is at most 32767, the largest that a ROCKETMQ header can hold.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RocketMQSerializable"
    "#rocketMQProtocolEncode",
    untestable=_BETWEEN_RELEASES,
)
CODEC_IS_WHOLE = Clause(
    id="WIRE-HEADER-007",
    level=Level.SHOULD,
    text=(
        "A header that encodes and decodes its fields by its own code "
        "(FastCodesHeader) covers all of them."
    ),
    source="5.3.3 org.apache.rocketmq.remoting.protocol.header"
    ".SendMessageRequestHeaderV2#encode",
    untestable=_BETWEEN_RELEASES,
)
TYPE_IS_READABLE = Clause(
    id="WIRE-HEADER-008",
    level=Level.SHOULD,
    text=(
        "A header field is text, an integer, a decimal number, a boolean or, in "
        "newer releases, a boundary type; a receiver does not decode another type."
    ),
    source=f"{_READER}#decodeCommandCustomHeaderDirectly",
    untestable=_BETWEEN_RELEASES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A change, or a declaration, that breaks a rule."""

    rule: Clause
    subject: str
    """Subject: ``Header.field`` or the name of a code."""
    old: str | None
    """The earlier release of the comparison, or None for the oldest."""
    new: str
    text: str
    codes: tuple[str, ...] = ()
    """The requests that carry the header, or whose responses do."""

"""
White lists: remote addresses whose requests are not checked.

``globalWhiteRemoteAddresses`` is a list of patterns, ``whiteRemoteAddress`` of an
account is one pattern (Java: RemoteAddressStrategyFactory).
"""

from __future__ import annotations

from spec.clause import Clause, Level

_FACTORY = "4.6.0 org.apache.rocketmq.acl.plain.RemoteAddressStrategyFactory"
_VALIDATE = "4.6.0 org.apache.rocketmq.acl.plain.PlainPermissionManager#validate"
_LAST = "5.3.2"

GLOBAL = Clause(
    id="SEC-WHITE-001",
    level=Level.MUST,
    text=(
        "A request from an address in globalWhiteRemoteAddresses is processed, "
        "unsigned or with a wrong signature, also one that needs an admin account."
    ),
    source=_VALIDATE,
    until=_LAST,
)
OF_ACCOUNT = Clause(
    id="SEC-WHITE-002",
    level=Level.QUIRK,
    text=(
        "A request with the AccessKey of an account, from its whiteRemoteAddress, is "
        "processed without a check of signature, permission and admin."
    ),
    source=_VALIDATE,
    until=_LAST,
)
OF_ANOTHER_ACCOUNT = Clause(
    id="SEC-WHITE-003",
    level=Level.MUST,
    text=(
        "The whiteRemoteAddress of an account does not concern requests with another "
        "AccessKey or without one."
    ),
    source=_VALIDATE,
    until=_LAST,
)
ONE = Clause(
    id="SEC-WHITE-004",
    level=Level.MUST,
    text="A pattern that is an address matches this address only.",
    source=f"{_FACTORY}.OneRemoteAddressStrategy#match",
    until=_LAST,
)
ASTERISK = Clause(
    id="SEC-WHITE-005",
    level=Level.MUST,
    text="127.0.0.* matches the addresses with the first three numbers.",
    source=f"{_FACTORY}.RangeRemoteAddressStrategy#match",
    until=_LAST,
)
RANGE = Clause(
    id="SEC-WHITE-006",
    level=Level.MUST,
    text=(
        "127.0.0.1-3 matches the addresses whose last number is from 1 to 3, both "
        "included. The range may be the third or fourth number, and from 4.5.2 on the "
        "second."
    ),
    source=f"{_FACTORY}.RangeRemoteAddressStrategy#match",
    until=_LAST,
)
BRACES = Clause(
    id="SEC-WHITE-007",
    level=Level.MUST,
    text="127.0.0.{2,4} matches 127.0.0.2 and 127.0.0.4 only.",
    source=f"{_FACTORY}.MultipleRemoteAddressStrategy#match",
    until=_LAST,
)
COMMAS = Clause(
    id="SEC-WHITE-008",
    level=Level.MUST,
    text="127.0.0.2,127.0.0.4 matches these two addresses only.",
    source=f"{_FACTORY}.MultipleRemoteAddressStrategy#match",
    until=_LAST,
)
BLANK = Clause(
    id="SEC-WHITE-009",
    level=Level.MUST,
    text="A blank pattern matches no address.",
    source=f"{_FACTORY}.BlankRemoteAddressStrategy#match",
    until=_LAST,
)
ALL = Clause(
    id="SEC-WHITE-010",
    level=Level.MUST,
    text="The pattern * matches every address.",
    source=f"{_FACTORY}.NullRemoteAddressStrategy#match",
    until=_LAST,
)
ALL_NUMBERS = Clause(
    id="SEC-WHITE-011",
    level=Level.MUST,
    text=(
        "From 4.5.2 on, the pattern *.*.*.* matches every address. Earlier releases "
        "do not load a plain_acl.yml that has it."
    ),
    source=f"{_FACTORY}#getRemoteAddressStrategy",
    since="4.5.2",
    until=_LAST,
)

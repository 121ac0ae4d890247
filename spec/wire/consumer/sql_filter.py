"""
SQL92: a consumer may select messages by an expression over their properties.

    price > 10 AND (region = 'EU' OR region IS NULL)

The grammar is that of JMS message selectors without LIKE and arithmetic; conditions are
true, false or unknown. Brokers decide for each message of a pull; before the commit log
is read they may use bits of the consume queue's extension (`spec.store`). It is off by
default: enablePropertyFilter switches it on.
"""

from __future__ import annotations

from spec.clause import Clause, Level

SQL92 = "SQL92"
"""The expressionType of such a subscription."""

_FILTER = "org.apache.rocketmq.filter"
_COMPARE = f"4.6.0 {_FILTER}.expression.ComparisonExpression"
_PARSER = f"4.6.0 {_FILTER}.parser.SelectorParser"
_PULL = "4.6.0 org.apache.rocketmq.broker.processor.PullMessageProcessor#processRequest"
_CHECK = (
    "4.6.0 org.apache.rocketmq.broker.processor.ClientManageProcessor#checkClientConfig"
)
_RECORD = (
    "4.6.0 org.apache.rocketmq.broker.filter.ExpressionMessageFilter"
    "#isMatchedByCommitLog"
)
_QUEUE = (
    "4.6.0 org.apache.rocketmq.broker.filter.ExpressionMessageFilter"
    "#isMatchedByConsumeQueue"
)

SELECTS = Clause(
    id="PULL-SQL-001",
    level=Level.MUST,
    text=(
        "A pull with an SQL92 expression gets the messages whose properties make it "
        "true, and no others."
    ),
    source=_RECORD,
)
OPERATORS = Clause(
    id="PULL-SQL-002",
    level=Level.MUST,
    text=(
        "An SQL92 expression may use =, <>, >, >=, <, <=, [NOT] BETWEEN, [NOT] IN "
        "with texts, IS [NOT] NULL, AND, OR, NOT and brackets. Keywords may have any "
        "case; names are case-sensitive."
    ),
    source=f"{_PARSER}#JmsSelector",
)
UNKNOWN = Clause(
    id="PULL-SQL-003",
    level=Level.MUST,
    text=(
        "In an SQL92 expression a comparison with a missing property is unknown, and "
        "so are NOT, AND and OR of it unless the other operand decides. With = and <>, "
        "a missing property on the right differs from a value and equals a missing one."
    ),
    source=f"4.6.0 {_FILTER}.expression.LogicExpression",
)
NO_NUMBER = Clause(
    id="PULL-SQL-004",
    level=Level.QUIRK,
    text=(
        "In an SQL92 expression a property compared with a number must be of the "
        "number's kind (32 bits, 64 bits or double). Any other property makes the "
        "whole expression fail, unless an operand on its left has decided."
    ),
    source=f"{_COMPARE}#__compare",
)
TEXTS_HAVE_NO_ORDER = Clause(
    id="PULL-SQL-005",
    level=Level.QUIRK,
    text=(
        "An SQL92 expression orders two properties as doubles, and compares their "
        "texts by = and <>. If one of two that it orders is not a number, the whole "
        "expression fails, unless an operand on its left has decided."
    ),
    source=f"{_COMPARE}#evaluate",
)
PROPERTY_ALONE = Clause(
    id="PULL-SQL-006",
    level=Level.QUIRK,
    text=(
        "A bare property as an SQL92 condition is false for every text, including "
        "true, and unknown if the message lacks the property."
    ),
    source=f"4.6.0 {_FILTER}.expression.UnaryExpression#createBooleanCast",
)
TRUTH_ON_THE_LEFT = Clause(
    id="PULL-SQL-007",
    level=Level.QUIRK,
    text=(
        "In an SQL92 expression a property equals TRUE if its text is true in any "
        "letter case. TRUE on the left of = makes the whole expression fail for a "
        "message with the property."
    ),
    source=f"{_COMPARE}#__compare",
)
INVALID_EXPRESSION = Clause(
    id="PULL-SQL-008",
    level=Level.MUST,
    text=(
        "An SQL92 expression is invalid if it orders texts or conditions, compares "
        "with NULL or has BETWEEN with low above high. It is also invalid with IN on "
        "anything but a property, an integer beyond 64 bits, or the double 0.0."
    ),
    source=f"{_COMPARE}#checkLessThanOperand",
)
REST_IS_IGNORED = Clause(
    id="PULL-SQL-009",
    level=Level.QUIRK,
    text="Text after a complete SQL92 expression is ignored: a LIKE 'x' means a.",
    source=f"{_PARSER}#JmsSelector",
)
WRONG_SELECTS_ALL = Clause(
    id="PULL-SQL-010",
    level=Level.QUIRK,
    text="A pull that itself carries an invalid SQL92 expression gets every message.",
    source=_PULL,
)
WRONG_IN_HEARTBEAT = Clause(
    id="PULL-SQL-011",
    level=Level.MUST,
    text=(
        "A pull by the SQL92 expression of its group's heartbeat is refused with "
        "FILTER_DATA_NOT_EXIST (27) if the expression is invalid."
    ),
    source=_PULL,
)
CHECKED = Clause(
    id="PULL-SQL-012",
    level=Level.MUST,
    text=(
        "CHECK_CLIENT_CONFIG succeeds for a valid SQL92 expression and is refused "
        "with SUBSCRIPTION_PARSE_FAILED (23) for an invalid one."
    ),
    source=_CHECK,
)
CHECKED_WHERE_OFF = Clause(
    id="PULL-SQL-013",
    level=Level.MUST,
    text=(
        "CHECK_CLIENT_CONFIG is refused with SYSTEM_ERROR (1) for any SQL92 "
        "expression while enablePropertyFilter is false."
    ),
    source=_CHECK,
)
HELD_FOR_MATCHES = Clause(
    id="PULL-SQL-014",
    level=Level.MUST,
    text=(
        "A held pull request with an SQL92 expression is answered when a message "
        "arrives that it selects, and not at the arrival of others."
    ),
    source="4.6.0 org.apache.rocketmq.broker.longpolling.PullRequestHoldService"
    "#notifyMessageArriving",
)
PARTS_OF_TEXTS = Clause(
    id="PULL-SQL-015",
    level=Level.MUST,
    text=(
        "From 5.1.3 on, an SQL92 condition may be [NOT] CONTAINS, [NOT] STARTSWITH "
        "or [NOT] ENDSWITH with a text. The condition is false for a property that "
        "the message lacks."
    ),
    source=f"5.1.3 {_FILTER}.expression.ComparisonExpression#createContains",
    since="5.1.3",
)
BITS_FIRST = Clause(
    id="PULL-SQL-016",
    level=Level.MUST,
    text=(
        "A pull by the SQL92 expression of its group's heartbeat skips a message "
        "whose bit map has the filter's length and lacks a bit of the group. A pull "
        "that carries its expression ignores bit maps."
    ),
    source=_QUEUE,
)
BITS_OF_THE_YOUNG = Clause(
    id="PULL-SQL-017",
    level=Level.MUST,
    text=(
        "The bit map of a message that was stored before the broker registered the "
        "group's SQL92 expression excludes no message."
    ),
    source="4.6.0 org.apache.rocketmq.broker.filter.ConsumerFilterData#isMsgInLive",
)
BITS_OF_ANOTHER = Clause(
    id="PULL-SQL-018",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a pull may apply the previous message's bit map to a message "
        "without one, and so skip it."
    ),
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueueExt$CqExtUnit#read",
    until="4.9",
)
FIRST_IS_FORGOTTEN = Clause(
    id="PULL-SQL-019",
    level=Level.QUIRK,
    text=(
        "A broker that persists consumerFilter.json may lose an expression that "
        "arrives at that moment as the first of its topic. Until the next heartbeat "
        "pulls are refused with FILTER_DATA_NOT_EXIST (27)."
    ),
    source="4.6.0 org.apache.rocketmq.broker.filter.ConsumerFilterManager#clean",
    untestable="nobody outside can choose the moment, the parsing of one expression",
)

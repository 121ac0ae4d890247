"""
SQL92: a consumer may ask for messages by an expression over their properties.

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
_CONSTANT = f"4.6.0 {_FILTER}.expression.ConstantExpression"
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
    text="A pull with an SQL92 expression gets the messages for whose properties it is"
    " true, and no others.",
    source=_RECORD,
)
OPERATORS = Clause(
    id="PULL-SQL-002",
    level=Level.MUST,
    text="An expression may use =, <>, >, >=, <, <=, [NOT] BETWEEN, [NOT] IN with"
    " texts, IS [NOT] NULL, AND, OR, NOT and brackets, keywords in any case, names in"
    " their own.",
    source=f"{_PARSER}#JmsSelector",
)
UNKNOWN = Clause(
    id="PULL-SQL-003",
    level=Level.MUST,
    text="A comparison with a property that the message lacks is unknown; so are NOT,"
    " AND and OR of it unless the other side decides.",
    source=f"4.6.0 {_FILTER}.expression.LogicExpression",
)
NO_NUMBER = Clause(
    id="PULL-SQL-004",
    level=Level.QUIRK,
    text="A property that is compared with a number and is none of its kind (32 bits,"
    " 64 bits or a double, as the number is written) makes the whole expression fail,"
    " unless something on its left has decided.",
    source=f"{_COMPARE}#__compare",
)
TEXTS_HAVE_NO_ORDER = Clause(
    id="PULL-SQL-005",
    level=Level.QUIRK,
    text="Two properties are put in order as doubles, and none at all where one is no"
    " number.",
    source=f"{_COMPARE}#evaluate",
)
PROPERTY_ALONE = Clause(
    id="PULL-SQL-006",
    level=Level.QUIRK,
    text="A property for a condition is false whatever its text, true included, and"
    " unknown where the message lacks it.",
    source=f"4.6.0 {_FILTER}.expression.UnaryExpression#createBooleanCast",
)
TRUTH_ON_THE_LEFT = Clause(
    id="PULL-SQL-007",
    level=Level.QUIRK,
    text="A property equals TRUE when its text is true in any case of its letters, but"
    " TRUE to its left equals no text.",
    source=f"{_COMPARE}#__compare",
)
REFUSED = Clause(
    id="PULL-SQL-008",
    level=Level.MUST,
    text="An expression is wrong that puts a text or a condition in order, compares"
    " with NULL, has BETWEEN with its numbers the wrong way round, IN of anything but a"
    " property, a whole number over 64 bits or the double 0.0.",
    source=f"{_COMPARE}#checkLessThanOperand",
)
REST_IS_IGNORED = Clause(
    id="PULL-SQL-009",
    level=Level.QUIRK,
    text="What follows a whole expression is passed over: a LIKE 'x' means a.",
    source=f"{_PARSER}#JmsSelector",
)
WRONG_SELECTS_ALL = Clause(
    id="PULL-SQL-010",
    level=Level.QUIRK,
    text="A pull that brings a wrong expression itself gets every message.",
    source=_PULL,
)
WRONG_IN_HEARTBEAT = Clause(
    id="PULL-SQL-011",
    level=Level.MUST,
    text="A pull by the expression of its group's heartbeat is refused with"
    " FILTER_DATA_NOT_EXIST (27) where that is wrong.",
    source=_PULL,
)
CHECKED = Clause(
    id="PULL-SQL-012",
    level=Level.MUST,
    text="CHECK_CLIENT_CONFIG succeeds for a right expression and is refused with"
    " SUBSCRIPTION_PARSE_FAILED (23) for a wrong one.",
    source=_CHECK,
)
CHECKED_WHERE_OFF = Clause(
    id="PULL-SQL-013",
    level=Level.MUST,
    text="CHECK_CLIENT_CONFIG is refused with SYSTEM_ERROR (1) for any expression while"
    " enablePropertyFilter is off.",
    source=_CHECK,
)
HELD_FOR_MATCHES = Clause(
    id="PULL-SQL-014",
    level=Level.MUST,
    text="A held pull with an expression is answered when a message arrives that it"
    " selects, and not at the arrival of others.",
    source="4.6.0 org.apache.rocketmq.broker.longpolling.PullRequestHoldService"
    "#notifyMessageArriving",
)
PARTS_OF_TEXTS = Clause(
    id="PULL-SQL-015",
    level=Level.MUST,
    text="A condition may be [NOT] CONTAINS, [NOT] STARTSWITH or [NOT] ENDSWITH with a"
    " text, false for a property that the message lacks.",
    source=f"5.1.3 {_FILTER}.expression.ComparisonExpression#createContains",
    since="5.1.3",
)
BITS_FIRST = Clause(
    id="PULL-SQL-016",
    level=Level.MUST,
    text="A pull by the expression of its group's heartbeat passes over a message whose"
    " bit map is as long as the filter and lacks a bit of the group, whatever its"
    " properties; one that brings its expression does not look at bits.",
    source=_QUEUE,
)
BITS_OF_THE_YOUNG = Clause(
    id="PULL-SQL-017",
    level=Level.MUST,
    text="Bits say nothing of a message that was stored before the broker first heard"
    " the group's expression.",
    source="4.6.0 org.apache.rocketmq.broker.filter.ConsumerFilterData#isMsgInLive",
)
BITS_OF_ANOTHER = Clause(
    id="PULL-SQL-018",
    level=Level.QUIRK,
    text="A pull may take the bit map of the message before for that of a message that"
    " has none, and so miss it.",
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueueExt$CqExtUnit#read",
    until="4.9",
)
FIRST_IS_FORGOTTEN = Clause(
    id="PULL-SQL-019",
    level=Level.QUIRK,
    text="A broker that writes consumerFilter.json may forget an expression that it"
    " hears at that moment, the first of its topic, until the next heartbeat: pulls are"
    " refused with FILTER_DATA_NOT_EXIST (27).",
    source="4.6.0 org.apache.rocketmq.broker.filter.ConsumerFilterManager#clean",
    untestable="nobody outside can choose the moment, the parsing of one expression",
)

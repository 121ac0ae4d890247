"""
Allocation strategies of Java clients, called in one Java process.

Cases cover every kind of division: fewer queues than members, as many, more, with a
remainder; brokers in machine rooms and outside; similar client ids.
"""

from __future__ import annotations

import itertools
from typing import Any

TOPIC = "TopicTest"
STRANGER = "stranger@1"
ROOMS = ("room1", "room2")
PLAIN_RULES = {
    "AVG": "AllocateMessageQueueAveragely",
    "AVG_BY_CIRCLE": "AllocateMessageQueueAveragelyByCircle",
    "CONSISTENT_HASH": "AllocateMessageQueueConsistentHash",
    "MACHINE_ROOM": "AllocateMessageQueueByMachineRoom",
}
"""Java's classes by the names that they give themselves."""

Case = dict[str, Any]


def cases() -> list[Case]:
    """Return the cases: sorted queues as [broker, number], and the members."""
    brokers = (
        ["broker-a"],
        ["broker-a", "broker-b"],
        ["room1@a", "room2@b", "room9@c"],
    )
    found: list[Case] = []
    for names, count, members in itertools.product(brokers, (1, 3, 4), (1, 2, 3, 5)):
        queues = [[name, number] for name in names for number in range(count)]
        ids = [f"10.0.0.{number}@{number * 7919}" for number in range(members)]
        found.append({"queues": queues, "members": sorted(ids)})
    far = [["room9@a", n] for n in range(3)] + [["room1@b", n] for n in range(4)]
    odd = [[name, 0] for name in ("@room1", "room1", "room1@", "room1@x@y", "room2@z")]
    alike = ["10.0.0.1@1", "10.0.0.1@1-1", "ä@1"]
    found.append({"queues": far, "members": ["a", "b"]})
    found.append({"queues": sorted(odd), "members": ["a", "b"]})
    found.append({"queues": far, "members": alike})
    return found


def responses(jvm: Any) -> list[Case]:
    """Return every case under every rule with the share of each member, and of none."""
    return [
        {"rule": name, **case, "shares": shares(jvm, _rule(jvm, name), case)}
        for name in PLAIN_RULES
        for case in cases()
    ]


def shares(jvm: Any, rule: Any, case: Case) -> dict[str, list[int]]:
    """Return, by member, the places in the case's queues of those that it takes."""
    message_queue = jvm.org.apache.rocketmq.common.message.MessageQueue
    queues = jvm.java.util.ArrayList()
    for name, number in case["queues"]:
        queues.add(message_queue(TOPIC, name, number))
    ids = jvm.java.util.ArrayList()
    for member in case["members"]:
        ids.add(member)
    return {
        member: [queues.indexOf(one) for one in rule.allocate("g", member, queues, ids)]
        for member in (*case["members"], STRANGER)
    }


def _rule(jvm: Any, name: str) -> Any:
    package = jvm.org.apache.rocketmq.client.consumer.rebalance
    rule = getattr(package, PLAIN_RULES[name])()
    if name == "MACHINE_ROOM":
        rooms = jvm.java.util.HashSet()
        for room in ROOMS:
            rooms.add(room)
        rule.setConsumeridcs(rooms)
    return rule

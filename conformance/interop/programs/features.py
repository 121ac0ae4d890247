"""
Features of clients, each with the outcome that is expected of a Java client.

An outcome is plain JSON without times and ids. It is expected at every server and with
every release of the client; `rmqc report interop` shows each difference.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.interop.programs.sends import LEVEL_MS

FOUR_SENT = ["SEND_OK"] * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Operation that clients offer."""

    name: str
    about: str
    """Summary of its program."""
    expected: object
    """Outcome, as JSON."""
    since: str = "4.4"
    """First release whose Java client has it."""


FEATURES = (
    Feature(
        name="sync send",
        about="four messages with tag, key and property, each answered; all come",
        expected={
            "sent": FOUR_SENT,
            "received": [[f"sync {n}", "A", "k", "v"] for n in range(4)],
        },
    ),
    Feature(
        name="async send",
        about="four messages, answered later",
        expected={"sent": FOUR_SENT, "received": [f"async {n}" for n in range(4)]},
    ),
    Feature(
        name="oneway send",
        about="four messages, not answered",
        expected={"received": [f"oneway {n}" for n in range(4)]},
    ),
    Feature(
        name="batch send",
        about="three messages in one request: three ids, one queue, offsets in a row",
        expected={
            "sent": "SEND_OK",
            "ids": 3,
            "offset ids": 3,
            "received": [[f"batch {n}", "A", None, "v"] for n in range(3)],
            "offsets": [0, 1, 2],
            "queues": 1,
        },
    ),
    Feature(
        name="large body",
        about="nearly 4 MiB that cannot be compressed; a body of a byte too many",
        expected={
            "sent": "SEND_OK",
            "received": [True],
            "a byte too many": "MQClientException 13",
        },
    ),
    Feature(
        name="compressed body",
        about="a body that the client compresses, and the consumer gets whole",
        expected={"sent": "SEND_OK", "received": [True], "stored smaller": [True]},
    ),
    Feature(
        name="ordered",
        about="messages of two queues, to an orderly listener: each queue in order",
        expected={f"queue {n}": ["0", "1", "2", "3", "4"] for n in range(2)},
    ),
    Feature(
        name="delay",
        about=f"a message with a delay level of {LEVEL_MS} ms",
        expected={"sent": "SEND_OK", "received": 1, "not before its time": [True]},
    ),
    Feature(
        name="transaction",
        about="one committed, one rolled back, and one of each after a check",
        expected={
            "states": ["COMMIT_MESSAGE", "ROLLBACK_MESSAGE", "UNKNOW", "UNKNOW"],
            "checked": ["wait, then commit", "wait, then roll back"],
            "received": ["commit", "commit last of all", "wait, then commit"],
        },
    ),
    Feature(
        name="request and reply",
        about="two requests, each answered by the consumer",
        expected=["first, answered", "second, answered"],
        since="4.6",
    ),
    Feature(
        name="request, called back",
        about="two requests, whose replies are given to a callback",
        expected=["first, answered", "second, answered"],
        since="4.6",
    ),
    Feature(
        name="tag filter",
        about="a subscription to two tags of four",
        expected=["0 A", "1 B", "4 B", "5 A"],
    ),
    Feature(
        name="SQL92 filter",
        about="a subscription by BETWEEN, AND, OR and IS NULL",
        expected=["1", "3", "5"],
    ),
    Feature(
        name="broadcast",
        about="two consumers of a group, each gets all",
        expected=[["0", "1", "2", "3"]] * 2,
    ),
    Feature(
        name="rebalance",
        about="four queues for one consumer, for two, and for the one that is left",
        expected={
            "alone": [4],
            "both": [2, 2],
            "received": [str(n) for n in range(8)],
            "one left": [4],
        },
    ),
    Feature(
        name="retry",
        about="a message that is refused once comes again",
        expected={
            "received": [["refused once", "A", "k", "v"]] * 2,
            "tries": [0, 1],
            "under its topic": [True, True],
        },
    ),
    Feature(
        name="dead letters",
        about="a message that is refused twice, of two tries",
        expected={
            "tries": [0, 1],
            "dead": [["never wanted", "A", "k", "v"]],
            "of its topic": [True],
        },
    ),
    Feature(
        name="pull",
        about="pulls of a queue, by tag, at its end and behind it; offsets; commit",
        expected={
            "queues": 1,
            "pulled": ["FOUND", "0", "1", "2", "3"],
            "next": 4,
            "by tag": ["1", "3", "5"],
            "at the end": "NO_NEW_MSG",
            "behind the end": "OFFSET_ILLEGAL",
            "ends": [0, 6],
            "first by time": 0,
            "committed": 4,
        },
    ),
    Feature(
        name="lite pull",
        about="one that subscribes and polls; one that takes a queue, and seeks",
        expected={"subscribed": [str(n) for n in range(6)], "sought": ["3", "5"]},
        since="4.6",
    ),
    Feature(
        name="query by id",
        about="the message of an offset id",
        expected=[["wanted", "A", "one two", "v"]],
    ),
    Feature(
        name="query by key",
        about="the messages of each of two keys; of a key that no message has",
        expected={
            "one": ["wanted"],
            "two": ["wanted"],
            "three": "MQClientException 208",
        },
    ),
    Feature(
        name="query by unique key",
        about="the message of the id that the client gave it",
        expected=[["wanted", "A", "one two", "v"]],
    ),
    Feature(
        name="query by offset",
        about="the message at an offset of a queue",
        expected=[["wanted", "A", "one two", "v"]],
    ),
    Feature(
        name="reset offset",
        about="a consumer at work is set back by an hour, and gets all again",
        expected={
            "received": ["0", "1", "2", "3"],
            "set back to": [0, 0],
            "again": ["0", "1", "2", "3"],
        },
    ),
    Feature(
        name="topics",
        about="a topic is made, changed, listed and deleted",
        expected={
            "queues": ["3", "5"],
            "listed": True,
            "deleted": "MQClientException 17",
        },
    ),
    Feature(
        name="groups",
        about="a group is made, listed, has a member and is deleted",
        expected={"retries": 3, "members": 1, "deleted": True},
    ),
    Feature(
        name="statistics",
        about="how many queues a topic has, and how far a group is behind",
        expected={"queues": "3", "behind by": "2"},
    ),
    Feature(
        name="cluster",
        about="clusters and brokers, a setting changed, what a broker counts",
        expected={
            "clusters": ["DefaultCluster"],
            "brokers": ["broker-a"],
            "setting": "true",
            "statistics": [True, True],
        },
    ),
)
"""In the order of the page."""

NAMES = tuple(feature.name for feature in FEATURES)


def feature(name: str) -> Feature:
    """Return the feature of a name."""
    return FEATURES[NAMES.index(name)]


TOOL_FEATURES = frozenset(
    {
        *("query by id", "query by key", "query by unique key"),
        *("topics", "groups", "statistics", "cluster"),
    }
)
"""Features of Java's admin tools; the reference has `rmqc admin` for them."""

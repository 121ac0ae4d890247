"""Short traces of a store, after each step of which the power may fail."""

from __future__ import annotations

from reference.tests.crash.workloads import Step

TAGGED = "TAGS\x01a\x02"
KEYED = "KEYS\x01k1 k2\x02UNIQ_KEY\x01u\x02TAGS\x01long tag\x02"
DELAYED = "DELAY\x011\x02"
TRACES: dict[str, list[Step]] = {
    "one message": [("put", 0, 20, KEYED), ("dispatch",)],
    "a record on three pages": [("put", 0, 400, KEYED), ("flush_log",), ("dispatch",)],
    "two queues": [
        ("put", 0, 150, KEYED),
        ("dispatch",),
        ("put", 1, 20, TAGGED),
        ("dispatch",),
        ("put", 0, 20),
        ("dispatch",),
    ],
    "a batch": [("put_batch", 0, [20, 150, 1]), ("dispatch",), ("flush_log",)],
    "the log rolls over": [
        *[("put", 0, 400, KEYED)] * 3,
        ("dispatch",),
        ("flush_log",),
        *[("put", 1, 400)] * 2,
        ("dispatch",),
    ],
    "units on two pages, a queue rolls over": [
        *[("put", 0, 1, TAGGED)] * 11,
        ("dispatch",),
        ("flush_log",),
        ("flush_queues",),
        *[("put", 0, 1, TAGGED)] * 11,
        ("dispatch",),
    ],
    "the checkpoint and the index": [
        ("put", 0, 400, KEYED),
        ("put", 1, 400),
        ("dispatch",),
        ("flush_log",),
        ("flush_queues",),
        ("wait", 4000),
    ]
    * 4,
    "a full index file, but no queue was flushed": [
        ("put", 0, 400, KEYED),
        ("put", 1, 400),
        ("flush_log",),
        ("dispatch",),
        ("wait", 4000),
    ]
    * 8,
    "an orderly stop": [
        ("put", 0, 150, KEYED),
        ("dispatch",),
        ("restart",),
        ("put", 1, 150, KEYED),
        ("dispatch",),
    ],
    "a process that was killed before": [
        *[("put", 0, 400, TAGGED), ("dispatch",)] * 5,
        ("wait", 4000),
        ("kill",),
        ("put", 0, 400, TAGGED),
        ("dispatch",),
        ("flush_log",),
        ("flush_queues",),
        ("wait", 4000),
        *[("put", 0, 400, TAGGED), ("dispatch",), ("flush_log",), ("flush_queues",)],
    ],
    "a delayed message": [
        ("put", 0, 20, DELAYED),
        ("dispatch",),
        ("flush_log",),
        ("wait", 1000),
        ("deliver",),
        ("dispatch",),
    ],
}

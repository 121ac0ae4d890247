"""
Generated programs: steps with few topics, queues, groups and clients.

They meet one another, with values at which brokers have had faults. Every program
begins with a topic and a group. It ends with reads of the whole topic, so that a
difference without a query of its own is found.
"""

from __future__ import annotations

from itertools import chain
from typing import TypeAlias

from hypothesis import strategies as st

from conformance.differential.steps import admin, members, reads, sends, wrong
from conformance.differential.steps.step import Step
from conformance.strategies.messages import bodies, properties, tags
from spec.wire.message.transactions import Decision

Program: TypeAlias = tuple[Step, ...]

PROLOGUE: Program = (admin.CreateTopic(), admin.UpdateGroup())
EPILOGUE: Program = tuple(
    step
    for queue_id in range(3)
    for step in (
        reads.MaxOffset(queue_id=queue_id),
        reads.Pull(queue_id=queue_id),
        reads.QueryOffset(queue_id=queue_id),
    )
)
MOST_STEPS = 12
"""In each of the parts of a program, which shrink one by one."""

DECISIONS = [int(Decision.COMMIT)] * 4 + [int(Decision.ROLLBACK)] * 3
DECISIONS += [int(Decision.UNKNOWN)]

queue_ids = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7])
topics = st.sampled_from(["T0", "T0", "T0", "T0", "T1", "T2", "%RETRY%G0", "%DLQ%G0"])
groups = st.sampled_from(["G0", "G0", "G0", "G1"])
clients = st.sampled_from(["C0", "C1"])
indexes = st.integers(0, 7)
offsets = st.sampled_from([0, 1, 2, 3, 5, 40, 2**33])
keys = st.sampled_from(["k", "k2", "Aa", "BB", "中文"])
subscriptions = st.sampled_from(
    ["*", "", None, "a", "a || b", "Aa", "a||", "||", "TagA", "中文"]
)


def programs() -> st.SearchStrategy[Program]:
    """Programs without their beginning and end; the empty one is the simplest.

    Half of them are about one subject, so that its requests meet one another.
    """
    subjects = (
        _looking() | _moving(),
        _of_members(),
        st.one_of(*_transactions(), *_transactions(), _looking()),
        st.one_of(_commits(), _looking(), _moving()),
        st.one_of(_of_admin(), _moving(), _looking()),
    )
    return st.one_of(*[_program(steps())] * 5, *(_program(one) for one in subjects))


def _program(step: st.SearchStrategy[Step]) -> st.SearchStrategy[Program]:
    part = st.lists(step, max_size=MOST_STEPS)
    return st.tuples(part, part, part).map(lambda parts: tuple(chain(*parts)))


def steps() -> st.SearchStrategy[Step]:
    """Return requests of all kinds, those about messages more often than others."""
    return st.one_of(_moving(), _moving(), _looking(), _looking(), _others())


def _moving() -> st.SearchStrategy[Step]:
    some = st.builds(
        sends.Send,
        topic=topics,
        queue_id=queue_ids,
        payload=_payloads(),
        properties=_properties(),
        letters=st.booleans(),
    )
    several = st.tuples(_small(), _properties())
    batch = st.builds(
        sends.SendBatch,
        topic=st.sampled_from(["T0", "T0", "T1", "%RETRY%G0"]),
        queue_id=queue_ids,
        messages=st.lists(several, min_size=1, max_size=4).map(tuple),
    )
    later = st.builds(
        sends.SendDelayed,
        queue_id=st.integers(0, 2),
        level=st.sampled_from([sends.NEVER] * 5 + [sends.NEVER + 5, 1]),
    )
    back = st.builds(
        sends.SendBack,
        message=indexes,
        group=groups,
        delay_level=st.sampled_from([sends.NEVER, sends.NEVER + 1, -1]),
        most=st.sampled_from([None, 0, 1]),
    )
    return st.one_of(
        *[some] * 5, batch, batch, *_odd_sends(), later, back, *_transactions() * 2
    )


def _odd_sends() -> list[st.SearchStrategy[Step]]:
    """Return sends of unusual form, and sends to unusual places."""
    odd = st.builds(
        sends.Send,
        queue_id=st.sampled_from([0, 1]),
        payload=st.sampled_from([b"m", b""]),
        flag=st.sampled_from([0, 1, -1, 2**31 - 1]),
        system_flags=st.sampled_from([0, 1, 2, 1 << 8]),
        reconsume_times=st.integers(0, 3),
        topic=st.sampled_from(["T0", "T0", "T0" + "x" * 127, "T4 é", "TBW102"]),
        properties=st.sampled_from([(), (("WAIT", "false"),), (("TAGS", ""),)]),
    )
    elsewhere = st.builds(
        sends.Send,
        topic=st.sampled_from(["T5", "%RETRY%G0", "%RETRY%G1"]),
        default_topic=st.sampled_from(["TBW102", "T0", "T6"]),
        queue_count=st.sampled_from([1, 4, 100]),
        reconsume_times=st.integers(0, 3),
        max_reconsume_times=st.sampled_from([None, 0, 2]),
    )
    return [odd, elsewhere]


def _transactions() -> list[st.SearchStrategy[Step]]:
    return [
        st.builds(sends.SendHalf, queue_id=st.integers(0, 1), payload=_small()),
        st.builds(
            sends.Decide,
            half=indexes,
            decision=st.sampled_from(DECISIONS),
            right_group=st.sampled_from([True, True, True, False]),
        ),
    ]


def _looking() -> st.SearchStrategy[Step]:
    pull = st.builds(
        reads.Pull,
        topic=topics,
        queue_id=st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7, -1]),
        offset=offsets,
        count=st.sampled_from([32, 1, 2, 0, -1, 100]),
        group=groups,
        subscription=subscriptions,
        flags=st.sampled_from([4, 4, 4, 5, 0, 1]),
        commit=offsets,
        expression_type=st.sampled_from(["TAG", "TAG", "TAG", "SQL92"]),
    )
    at_queue = {"topic": topics, "queue_id": queue_ids}
    queries = st.one_of(
        st.builds(reads.QueryOffset, group=groups, **at_queue),
        st.builds(reads.MaxOffset, **at_queue),
        st.builds(reads.MinOffset, **at_queue),
        st.builds(reads.EarliestTime, **at_queue),
    )
    return st.one_of(pull, pull, pull, queries, *_findings())


def _findings() -> list[st.SearchStrategy[Step]]:
    """Return the steps that find messages in other ways, and statistics."""
    searched = st.builds(
        reads.Search,
        message=indexes,
        when=st.sampled_from(list(reads.When)),
        boundary=st.sampled_from([None, None, "lower", "upper"]),
    )
    found = st.one_of(
        st.builds(reads.View, message=indexes),
        st.builds(
            reads.QueryKey,
            topic=st.sampled_from(["T0", "T0", "T1"]),
            key=keys,
            count=st.sampled_from([32, 1, 2, 100]),
        ),
        st.builds(
            reads.QueryKey, key=st.sampled_from(["N0", "N1"]), unique=st.just(True)
        ),
    )
    stats = st.one_of(
        st.builds(reads.TopicStats, topic=topics),
        st.builds(reads.ConsumeStats, group=groups),
    )
    return [searched, found, stats]


def _others() -> st.SearchStrategy[Step]:
    wrongs = st.builds(wrong.Wrong, what=st.sampled_from(sorted(wrong.WRONG)))
    return st.one_of(
        *[_commits()] * 3, _of_members(), _of_members(), _of_admin(), wrongs
    )


def _commits() -> st.SearchStrategy[Step]:
    return st.builds(
        reads.UpdateOffset,
        topic=topics,
        queue_id=queue_ids,
        group=groups,
        offset=offsets,
    )


def _of_members() -> st.SearchStrategy[Step]:
    who = {"client": clients, "group": groups}
    locked = st.lists(st.integers(0, 3), max_size=3, unique=True).map(tuple)
    return st.one_of(
        st.builds(
            members.Heartbeat,
            **who,
            expression=st.sampled_from(["*", "a", "a || b"]),
            version=st.integers(0, 2),
            model=st.sampled_from(["CLUSTERING", "CLUSTERING", "BROADCASTING"]),
            produces=st.booleans(),
        ),
        st.builds(members.Unregister, **who, produces=st.booleans()),
        st.builds(members.Members, group=groups),
        st.builds(members.Connections, group=groups),
        st.builds(members.Producers, group=groups),
        st.builds(members.Lock, **who, queues=locked),
        st.builds(members.Lock, **who, queues=locked),
        st.builds(members.Unlock, **who, queues=locked),
    )


def _of_admin() -> st.SearchStrategy[Step]:
    counts = st.sampled_from([3, 1, 4, 8])
    some_topic = st.sampled_from(["T0", "T1"])
    setting = st.sampled_from(
        [(), (("consumeEnable", False),), (("retryMaxTimes", 0),)]
    )
    verbs = st.sampled_from(["put", "get", "delete", "list"])
    return st.one_of(
        st.builds(
            admin.CreateTopic,
            topic=some_topic,
            write_queues=counts,
            read_queues=counts,
            permissions=st.sampled_from([6, 2, 4, 7]),
            filter_type=st.sampled_from(["SINGLE_TAG", "MULTI_TAG"]),
            order=st.booleans(),
        ),
        st.builds(admin.DeleteTopic, topic=some_topic),
        st.just(admin.Topics()),
        st.just(admin.Groups()),
        st.builds(admin.UpdateGroup, group=groups, settings=setting),
        st.builds(admin.DeleteGroup, group=groups),
        st.builds(admin.GroupsOfTopic, topic=topics),
        st.builds(admin.ResetOffset, group=groups, to_end=st.booleans()),
        st.builds(admin.KeyValue, verb=verbs, key=st.sampled_from(["a", "b"])),
    )


def _payloads() -> st.SearchStrategy[bytes]:
    return st.one_of(_small(), _small(), bodies(most=2**16))


def _small() -> st.SearchStrategy[bytes]:
    return st.sampled_from([b"m", b"n", b"\x00\xff", "中".encode()])


def _properties() -> st.SearchStrategy[sends.Properties]:
    """Properties with tags and keys of few values, and now and then any others."""
    tag = st.one_of(st.sampled_from(["a", "b", "Aa", "BB"]), tags())
    given = st.fixed_dictionaries(
        {},
        optional={
            "TAGS": tag,
            "KEYS": st.lists(keys, min_size=1, max_size=2).map(" ".join),
            "UNIQ_KEY": st.sampled_from(["N0", "N1"]),
        },
    )
    nothing: st.SearchStrategy[dict[str, str]] = st.just({})
    other = st.one_of(nothing, nothing, properties(most=2))
    return st.builds(
        lambda some, more: tuple(sorted({**more, **some}.items())), given, other
    )

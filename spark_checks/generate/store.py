"""
Writer of a generated store: directories, parts and small files.

Parts are written one after the other, or by Spark workers with a shared directory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from pyspark import SparkContext

from spark_checks.generate.part import rounds_of, write_part
from spark_checks.generate.plan import (
    BATCH_TOPIC,
    BEGAN_AT_MS,
    GROUP,
    REVIVE_TOPIC,
    ROUND_MS,
    Plan,
    PlanError,
)
from spark_checks.generate.rounds import POP_COUNT, counts_of, steps_of
from spark_checks.generate.uniform import EACH_MS, UniformPlan, write_uniform_part
from spec.routing.topic_config import TopicConfig, topic_as_json
from spec.store.batch_queue import BATCH, QUEUE_TYPE
from spec.store.checkpoint import Checkpoint, encode_checkpoint
from spec.wire.bodies import fastjson
from spec.wire.message.topic_names import SCHEDULE_TOPIC
from spec.wire.pop.pop_bodies import REVIVE_GROUP


def check_root(root: Path) -> None:
    """Raise PlanError unless *root* is an empty directory or does not exist."""
    if root.exists() and any(root.iterdir()):
        raise PlanError(f"{root} is not empty")


def generate(
    root: Path,
    plan: Plan,
    context: SparkContext | None = None,
    *,
    on_part: Callable[[], None] = lambda: None,
) -> None:
    """Write the store of *plan* into the directory *root*, which must be empty.

    *on_part* is called after each part that this process writes.
    """
    check_root(root)
    for name in ("commitlog", "index", "config"):
        (root / name).mkdir(parents=True)
    if isinstance(plan, UniformPlan):
        write = partial(write_uniform_part, root, plan)
        counts = plan.counts
        last_ms = BEGAN_AT_MS + (plan.messages - 1) * EACH_MS
    else:
        write = partial(write_part, root, plan)
        rounds, steps = rounds_of(plan) * plan.files, len(steps_of(plan))
        counts = {queue: rounds * count for queue, count in counts_of(plan).items()}
        last_ms = (rounds - 1) * ROUND_MS + (steps - 1) * ROUND_MS // steps
        last_ms += BEGAN_AT_MS
    if context is None:
        for part in range(plan.files):
            write(part)
            on_part()
    else:
        context.parallelize(range(plan.files), plan.files).foreach(write)
    times = dict.fromkeys(("physic_ms", "logics_ms", "index_ms"), last_ms)
    (root / "checkpoint").write_bytes(encode_checkpoint(Checkpoint(**times)))
    (root / "lock").touch()
    for name, value in _configuration(plan, counts).items():
        for path in (f"config/{name}.json", f"config/{name}.json.bak"):
            (root / path).write_bytes(fastjson.dumps(value))


def _configuration(
    plan: Plan, counts: Mapping[tuple[str, int], int]
) -> dict[str, object]:
    """Return the files of the configuration of a store with these *counts* by queue."""
    version = {"counter": 1, "timestamp": BEGAN_AT_MS}
    topics: dict[str, int] = {}
    for topic, queue_id in counts:
        topics[topic] = max(topics.get(topic, 0), queue_id + 1)
    batches = {BATCH_TOPIC: 1} if plan.is_rich else {}
    table = {
        topic: topic_as_json(
            TopicConfig(
                topic=topic,
                read_queue_count=queues,
                write_queue_count=queues,
                attributes={QUEUE_TYPE: BATCH} if topic in batches else {},
            )
        )
        for topic, queues in {**topics, **batches}.items()
    }
    consumed = {
        f"{topic}@{GROUP}": {
            queue_id: counts[topic, queue_id] // 2 for queue_id in range(plan.queues)
        }
        for topic in plan.topic_names
    }
    if plan.is_rich:
        last = counts[REVIVE_TOPIC, 0] - POP_COUNT
        consumed[f"{REVIVE_TOPIC}@{REVIVE_GROUP}"] = {0: last}
    levels = [queue_id for topic, queue_id in counts if topic == SCHEDULE_TOPIC]
    return {
        "topics": {"dataVersion": version, "topicConfigTable": table},
        "subscriptionGroup": {
            "dataVersion": version,
            "subscriptionGroupTable": {GROUP: {"groupName": GROUP}},
        },
        "consumerOffset": {"offsetTable": consumed},
        "delayOffset": {
            "offsetTable": {
                level + 1: counts[SCHEDULE_TOPIC, level] for level in levels
            }
        },
    }

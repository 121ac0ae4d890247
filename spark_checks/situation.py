"""
What the invariants must know of a store before any of its rows is read.
"""

from __future__ import annotations

from spark_checks.broker_conf import BrokerConf
from spark_checks.invariants import files
from spark_checks.sources.store_files import Store, queue_of, read_whole
from spark_checks.tables import Situation
from spec.layout import LayoutError
from spec.wire import fastjson


def situation_of(store: Store, conf: BrokerConf) -> Situation:
    """Return what the invariants must know of *store*."""
    size = conf.queue_file_size or files.queue_file_size(store)
    queue_files = [queue_of(file.path) for file in store.files]
    other = {
        path.split("/")[1]
        for path in store.directories
        if path.startswith("batchconsumequeue/")
    }
    configured = _configured_topics(store)
    with_queues = frozenset(queue[0] for queue in queue_files if queue)
    return Situation(
        min_offset=store.min_offset,
        parts=store.parts,
        left_open=store.was_left_open,
        queue_file_size=size or Situation().queue_file_size,
        known_topics=None if configured is None else configured | with_queues,
        other_topics=frozenset(other),
        delays_are_known=conf.delays_are_known,
    )


def _configured_topics(store: Store) -> frozenset[str] | None:
    """Return the topics of the store's configuration; None if it cannot be read."""
    file = next((f for f in store.files if f.path == "config/topics.json"), None)
    if file is None:
        return None
    try:
        found = fastjson.loads(read_whole(store.url, file))
    except LayoutError:
        return None
    topics = found.get("topicConfigTable") if isinstance(found, dict) else None
    return frozenset(map(str, topics)) if isinstance(topics, dict) else None
